import type { BudgetStore } from "@/lib/core/shared-budget";
import type { Database } from "./client";
import { keptSqlOn } from "./sql";
import { sql } from "./statement";
import { int, type RowOf, table, text, time, float } from "./table";

interface Increment {
  readonly bucket: string;
  readonly windowStart: Date;
  readonly by: number;
}

const totals = table({ bucket: text, windowStart: time, count: int });

type Total = RowOf<typeof totals>;

interface RateWindowStore {
  add(increments: readonly Increment[]): Promise<readonly Total[]>;
}

/** Request counts of all instances, in the table `rate_window`. */
export const createRateWindowStore = ({ pool }: Pick<Database, "pool">): RateWindowStore => {
  const db = keptSqlOn(pool);

  return {
    add: (increments) => {
      // Every instance locks rows in the same order, so two batches cannot wait for each other.
      const sorted = [...increments].sort((a, b) =>
        a.bucket < b.bucket ? -1 : a.bucket > b.bucket ? 1 : 0,
      );
      return totals.all(
        db,
        sql`
          INSERT INTO rate_window (bucket, window_start, count)
          SELECT * FROM unnest(
            ${sorted.map(({ bucket }) => bucket)}::text[],
            ${sorted.map(({ windowStart }) => windowStart)}::timestamptz[],
            ${sorted.map(({ by }) => by)}::int[]
          )
          ON CONFLICT (bucket, window_start) DO UPDATE SET
            count = rate_window.count + EXCLUDED.count
          RETURNING ${totals.columns("rate_window")}`,
      );
    },
  };
};

/** The number of requests that were granted from a budget, and the number that is left. */
const slices = table({ granted: int, left: float });

/** Each chain's request budget, in the unlogged table `rpc_budget`, which all instances share. */
export const createRpcBudgetStore = ({ pool }: Pick<Database, "pool">): BudgetStore => {
  const db = keptSqlOn(pool);

  return {
    take: async ({ chainId, perSecond, capacity, debtMax, wanted, sends, owed }) => {
      // The bucket after its refill. `now()` is constant during the statement, and never before the
      // row's last refill.
      const filled = sql`
        least(
          ${capacity}::float8,
          b.requests
            + ${perSecond}::float8
            * greatest(0, extract(epoch FROM now() - b.refilled_at))::float8
        )`;
      // Requests that were sent already are charged even if the bucket is empty, down to -debtMax.
      // New requests get only as many as the bucket has.
      const granted = sql`
        greatest(
          0,
          least(${wanted}::int, floor(${filled})::int),
          least(${sends}::int, floor(${filled} + ${debtMax}::float8)::int)
        )`;
      // A chain without a row has a full bucket.
      const first = sql`least(${wanted}::int, floor(${capacity}::float8)::int)`;
      // One statement takes requests and returns their number, so two instances never get the same
      // requests. All new values are computed from the old row.
      const slice = await slices.first(
        db,
        sql`
          INSERT INTO rpc_budget AS b (chain_id, requests, granted, refilled_at)
          VALUES (
            ${chainId}::int,
            ${capacity}::float8 - ${first} - ${owed}::int,
            ${first},
            now()
          )
          ON CONFLICT (chain_id) DO UPDATE SET
            requests = greatest(-${debtMax}::float8, ${filled} - ${granted} - ${owed}::int),
            granted = ${granted},
            refilled_at = greatest(b.refilled_at, now())
          RETURNING granted, requests AS left`,
      );
      if (slice === null) throw new Error("The budget of requests was not stored.");
      return slice;
    },
  };
};
