import type { Database } from "./client";
import type { BudgetSlice, BudgetStore } from "@/lib/core/shared-budget";

interface Increment {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly by: number;
}

interface Total {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly count: number;
}

interface RateWindowStore {
  add(increments: readonly Increment[]): Promise<readonly Total[]>;
}

const ADD = `
  INSERT INTO rate_window (bucket, window_start, count)
  SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::int[])
  ON CONFLICT (bucket, window_start) DO UPDATE SET count = rate_window.count + EXCLUDED.count
  RETURNING bucket, window_start AS "windowStart", count`;

/** Request counts of all instances, in the table `rate_window`. */
export const createRateWindowStore = ({ pool }: Pick<Database, "pool">): RateWindowStore => ({
  add: async (increments) => {
    // Every instance locks rows in the same order, so two batches cannot wait for each other.
    const sorted = [...increments].sort((a, b) =>
      a.bucket < b.bucket ? -1 : a.bucket > b.bucket ? 1 : 0,
    );
    const { rows } = await pool.query<Total>({
      name: "rate_window_add",
      text: ADD,
      values: [
        sorted.map(({ bucket }) => bucket),
        sorted.map(({ windowStart }) => windowStart),
        sorted.map(({ by }) => by),
      ],
    });
    return rows;
  },
});

/**
 * The bucket after its refill. `now()` is constant during the statement, and never before the row's
 * last refill.
 */
const FILLED = `least($2::float8, b.requests + $3::float8 * greatest(0, extract(epoch FROM now() - b.refilled_at))::float8)`;
/**
 * Requests that were sent already are charged even if the bucket is empty, down to -$6. Others get
 * only what is in the bucket.
 */
const GRANTED = `greatest(0, least($4::int, floor(${FILLED})::int), least($5::int, floor(${FILLED} + $6::float8)::int))`;

// One statement takes and answers, so two instances never get the same requests. The new values are
// computed from the old row. A chain without a row has a full bucket.
const TAKE = `
  INSERT INTO rpc_budget AS b (chain_id, requests, granted, refilled_at)
  VALUES ($1, $2::float8 - least($4::int, floor($2::float8)::int) - $7::int, least($4::int, floor($2::float8)::int), now())
  ON CONFLICT (chain_id) DO UPDATE SET
    requests = greatest(-$6::float8, ${FILLED} - ${GRANTED} - $7::int),
    granted = ${GRANTED},
    refilled_at = greatest(b.refilled_at, now())
  RETURNING granted, requests AS left`;

/** Each chain's request budget, in the unlogged table `rpc_budget`, which all instances share. */
export const createRpcBudgetStore = ({ pool }: Pick<Database, "pool">): BudgetStore => ({
  take: async ({ chainId, perSecond, capacity, debtMax, wanted, sends, owed }) => {
    const values = [chainId, capacity, perSecond, wanted, sends, debtMax, owed];
    const { rows } = await pool.query<BudgetSlice>({ name: "rpc_budget_take", text: TAKE, values });
    const [row] = rows;
    if (row === undefined) throw new Error("The budget of requests was not stored.");
    return row;
  },
});
