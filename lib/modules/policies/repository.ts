import type { Queryable } from "@/lib/db/client";

interface Spending {
  readonly apiKeyId: string;
  /** `2026-01-31`, UTC. */
  readonly day: string;
  /** US dollars, decimal strings; Postgres computes with them exactly. `usd` is rounded up to the 6 digits that are stored. */
  readonly usd: string;
  readonly capUsd: string;
}

/** Adds to what the key spent on the day, unless that would pass the cap. Of any number at once, those that fit get true. */
export const addSpending = async (db: Queryable, { apiKeyId, day, usd, capUsd }: Spending): Promise<boolean> => {
  const count = await db.$executeRaw`
    INSERT INTO policy_spend (api_key_id, day, spent_usd)
    SELECT ${apiKeyId}, ${day}::date, rounded.usd
    FROM (SELECT ceil(${usd}::numeric * 1000000) / 1000000 AS usd) AS rounded
    WHERE rounded.usd <= ${capUsd}::numeric
    ON CONFLICT (api_key_id, day) DO UPDATE SET spent_usd = policy_spend.spent_usd + EXCLUDED.spent_usd
    WHERE policy_spend.spent_usd + EXCLUDED.spent_usd <= ${capUsd}::numeric`;
  return count === 1;
};

/** Whether the amount would fit now. */
export const fitsSpending = async (db: Queryable, { apiKeyId, day, usd, capUsd }: Spending): Promise<boolean> => {
  const [row] = await db.$queryRaw<{ fits: boolean }[]>`
    SELECT ceil(${usd}::numeric * 1000000) / 1000000 + coalesce(
      (SELECT spent_usd FROM policy_spend WHERE api_key_id = ${apiKeyId} AND day = ${day}::date), 0
    ) <= ${capUsd}::numeric AS fits`;
  return row?.fits === true;
};
