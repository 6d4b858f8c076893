import type { BudgetSlice, BudgetStore } from "@/lib/core/shared-budget";
import type { Database } from "./client";

/** The bucket after its refill. `now()` is one moment for the whole statement, and never before the row's last refill. */
const FILLED = `least($2::float8, b.requests + $3::float8 * greatest(0, extract(epoch FROM now() - b.refilled_at))::float8)`;
/** Sends may take what the bucket lacks, down to -$6; reads take only what is there. */
const GRANTED = `greatest(0, least($4::int, floor(${FILLED})::int), least($5::int, floor(${FILLED} + $6::float8)::int))`;

// One statement takes and answers, so two instances never get the same requests. The new values are computed from the row before. A chain
// without a row has a full bucket.
const TAKE = `
  INSERT INTO rpc_budget AS b (chain_id, requests, granted, refilled_at)
  VALUES ($1, $2::float8 - least($4::int, floor($2::float8)::int) - $7::int, least($4::int, floor($2::float8)::int), now())
  ON CONFLICT (chain_id) DO UPDATE SET
    requests = greatest(-$6::float8, ${FILLED} - ${GRANTED} - $7::int),
    granted = ${GRANTED},
    refilled_at = greatest(b.refilled_at, now())
  RETURNING granted, requests AS left`;

/** Each chain's budget of requests, in the unlogged table `rpc_budget`, which all instances share. */
export const createRpcBudgetStore = ({ pool }: Pick<Database, "pool">): BudgetStore => ({
  take: async ({ chainId, perSecond, capacity, debtMax, wanted, sends, owed }) => {
    const values = [chainId, capacity, perSecond, wanted, sends, debtMax, owed];
    const { rows } = await pool.query<BudgetSlice>({ name: "rpc_budget_take", text: TAKE, values });
    const [row] = rows;
    if (row === undefined) throw new Error("The budget of requests was not stored.");
    return row;
  },
});
