import type { Sql, SqlReader } from "@/lib/db/sql";

interface Spending {
  readonly apiKeyId: string;
  /** `2026-01-31`, UTC. */
  readonly day: string;
  /** US dollars, decimal strings; Postgres computes with them exactly. `usd` is rounded up to the 6 digits that are stored. */
  readonly usd: string;
  readonly capUsd: string;
}

const ADD = `
  INSERT INTO policy_spend (api_key_id, day, spent_usd)
  SELECT $1, $2::date, rounded.usd
  FROM (SELECT ceil($3::numeric * 1000000) / 1000000 AS usd) AS rounded
  WHERE rounded.usd <= $4::numeric
  ON CONFLICT (api_key_id, day) DO UPDATE SET spent_usd = policy_spend.spent_usd + EXCLUDED.spent_usd
  WHERE policy_spend.spent_usd + EXCLUDED.spent_usd <= $4::numeric`;

const FITS = `
  SELECT ceil($3::numeric * 1000000) / 1000000 + coalesce(
    (SELECT spent_usd FROM policy_spend WHERE api_key_id = $1 AND day = $2::date), 0
  ) <= $4::numeric AS fits`;

const valuesOf = ({ apiKeyId, day, usd, capUsd }: Spending): string[] => [apiKeyId, day, usd, capUsd];

/** Adds to what the key spent on the day, unless that would pass the cap. Of any number at once, those that fit get true. */
export const addSpending = async (sql: Sql, spending: Spending): Promise<boolean> =>
  (await sql.change(ADD, valuesOf(spending))) === 1;

/** Whether the amount would fit now. */
export const fitsSpending = async (sql: SqlReader, spending: Spending): Promise<boolean> => {
  const [row] = await sql.query<{ fits: boolean }>(FITS, valuesOf(spending));
  return row?.fits === true;
};
