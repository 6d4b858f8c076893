import type { Queryable } from "@/lib/db/client";
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { JudgedPart } from "@/lib/db/together";

interface Spending {
  readonly projectId: string;
  readonly apiKeyId: string;
  /** `2026-01-31`, UTC. */
  readonly day: string;
  /** US dollars, decimal strings; Postgres computes with them exactly. `usd` is rounded up to the 6 digits that are stored. */
  readonly usd: string;
  readonly capUsd: string;
}

const ROUNDED = "(SELECT ceil($3::numeric * 1000000) / 1000000 AS usd) AS rounded";
const PROJECT_CAP = "(SELECT daily_cap_usd FROM project WHERE id = $1)";

const SPEND_OF_PROJECT = `
  INSERT INTO project_spend (project_id, day, spent_usd)
  SELECT $1, $2::date, rounded.usd FROM ${ROUNDED} WHERE rounded.usd <= ${PROJECT_CAP}
  ON CONFLICT (project_id, day) DO UPDATE SET spent_usd = project_spend.spent_usd + EXCLUDED.spent_usd
  WHERE project_spend.spent_usd + EXCLUDED.spent_usd <= ${PROJECT_CAP}
  RETURNING project_id`;
const SPEND_OF_KEY = `
  INSERT INTO policy_spend (api_key_id, day, spent_usd)
  SELECT $1, $2::date, rounded.usd FROM ${ROUNDED}, spent_of_project WHERE rounded.usd <= $4::numeric
  ON CONFLICT (api_key_id, day) DO UPDATE SET spent_usd = policy_spend.spent_usd + EXCLUDED.spent_usd
  WHERE policy_spend.spent_usd + EXCLUDED.spent_usd <= $4::numeric
  RETURNING api_key_id`;

/**
 * As `addSpending`, as parts of a statement. The project's row is locked first, because the key's part reads the project's.
 * @param refuse called where either cap would be exceeded; throws, so that the transaction is rolled back
 */
export const spendingParts = (
  { projectId, apiKeyId, day, usd, capUsd }: Spending,
  refuse: () => void,
): readonly JudgedPart[] => {
  const judge = (rows: readonly unknown[]): void => {
    if (rows.length === 0) refuse();
  };
  return [
    { name: "spent_of_project", text: SPEND_OF_PROJECT, values: [projectId, day, usd], judge },
    { text: SPEND_OF_KEY, values: [apiKeyId, day, usd, capUsd], judge },
  ];
};

// The key's row is only looked at when the project's is changed, so the project's row is always locked first.
const ADD_TO_BOTH = `
  WITH rounded AS (SELECT ceil($3::numeric * 1000000) / 1000000 AS usd),
  project_part AS (
    INSERT INTO project_spend (project_id, day, spent_usd)
    SELECT $1, $2::date, rounded.usd FROM rounded WHERE rounded.usd <= ${PROJECT_CAP}
    ON CONFLICT (project_id, day) DO UPDATE SET spent_usd = project_spend.spent_usd + EXCLUDED.spent_usd
    WHERE project_spend.spent_usd + EXCLUDED.spent_usd <= ${PROJECT_CAP}
    RETURNING 1
  ), key_part AS (
    INSERT INTO policy_spend (api_key_id, day, spent_usd)
    SELECT $5, $2::date, rounded.usd FROM rounded, project_part
    WHERE rounded.usd <= $4::numeric
    ON CONFLICT (api_key_id, day) DO UPDATE SET spent_usd = policy_spend.spent_usd + EXCLUDED.spent_usd
    WHERE policy_spend.spent_usd + EXCLUDED.spent_usd <= $4::numeric
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM project_part)::int AS project, (SELECT count(*) FROM key_part)::int AS key`;

const TAKE_BACK_FROM_PROJECT = `
  UPDATE project_spend SET spent_usd = spent_usd - rounded.usd FROM ${ROUNDED}
  WHERE project_id = $1 AND day = $2::date`;

const FITS = `
  SELECT w.place, ceil(w.usd * 1000000) / 1000000 + coalesce(p.spent_usd, 0) <= project.daily_cap_usd
    AND ceil(w.usd * 1000000) / 1000000 + coalesce(k.spent_usd, 0) <= w."capUsd" AS fits
  FROM jsonb_to_recordset($1::jsonb)
    AS w (place int, "projectId" text, "apiKeyId" text, day date, usd numeric, "capUsd" numeric)
  JOIN project ON project.id = w."projectId"
  LEFT JOIN project_spend p ON p.project_id = w."projectId" AND p.day = w.day
  LEFT JOIN policy_spend k ON k.api_key_id = w."apiKeyId" AND k.day = w.day`;

/**
 * Adds an amount to the day's spending of the key and of its project. False, and nothing is added, when that would exceed the cap of
 * either; safe under concurrent calls. The project's row is always locked first, which prevents deadlocks between keys.
 * @param sql must be inside a transaction
 */
export const addSpending = async (sql: Sql, spending: Spending): Promise<boolean> => {
  const { projectId, apiKeyId, day, usd, capUsd } = spending;
  const [added] = await sql.query<{ project: number; key: number }>(ADD_TO_BOTH, [
    projectId,
    day,
    usd,
    capUsd,
    apiKeyId,
  ]);
  if (added?.project !== 1) return false;
  if (added.key === 1) return true;
  await sql.change(TAKE_BACK_FROM_PROJECT, [projectId, day, usd]);
  return false;
};

/** Whether each amount alone fits into both of its caps now. Adds nothing. */
export const fitSpendings = async (sql: SqlReader, spendings: readonly Spending[]): Promise<boolean[]> => {
  const wanted = spendings.map((spending, place) => ({ ...spending, place }));
  const rows = await sql.query<{ place: number; fits: boolean }>(FITS, [JSON.stringify(wanted)]);
  const fitting = new Set(rows.flatMap(({ place, fits }) => (fits ? [place] : [])));
  return spendings.map((_, place) => fitting.has(place));
};

/** The project's daily cap in US dollars, a decimal string; null when the project does not exist. */
export const readDailyCap = async (db: Queryable, projectId: string): Promise<string | null> => {
  const row = await db.project.findUnique({ where: { id: projectId }, select: { dailyCapUsd: true } });
  return row === null ? null : row.dailyCapUsd.toFixed();
};

/** The sum that all keys of the project spent on the day, in US dollars (decimal string). */
export const readProjectSpend = async (db: Queryable, projectId: string, day: string): Promise<string> => {
  const where = { projectId_day: { projectId, day: new Date(`${day}T00:00:00Z`) } };
  const row = await db.projectSpend.findUnique({ where });
  return row?.spentUsd.toFixed() ?? "0";
};

/** Replaces the project's daily cap. False when the cap is no longer `from`. */
export const replaceDailyCap = async (
  db: Queryable,
  { projectId, from, to }: { projectId: string; from: string; to: string },
): Promise<boolean> => {
  const { count } = await db.project.updateMany({
    where: { id: projectId, dailyCapUsd: from },
    data: { dailyCapUsd: to },
  });
  return count === 1;
};
