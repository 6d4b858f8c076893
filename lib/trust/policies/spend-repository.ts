import type { Queryable } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { z } from "zod";
import { fromAtto, usdOf } from "./facts";

interface Spending {
  readonly projectId: string;
  readonly apiKeyId: string;
  /** UTC day, such as `2026-01-31`. */
  readonly day: string;
  /**
   * US dollars, decimal strings; Postgres computes with them exactly. `usd` is rounded up to the 6
   * digits that are stored.
   */
  readonly usd: string;
  readonly capUsd: string;
}

const ROUNDED = "(SELECT ceil($3::numeric * 1000000) / 1000000 AS usd) AS rounded";
const PROJECT_CAP = "(SELECT daily_cap_usd FROM project WHERE id = $1)";

// The project's row is always locked first: the key's row is changed only when the project's row
// was.
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
 * Adds an amount to the day's spending of the key and of its project. Returns false and adds
 * nothing when that would exceed either cap; safe under concurrent calls. The project's row is
 * always locked first, which prevents deadlocks between keys.
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

/** Whether each single amount fits into both of its caps now. Adds nothing. */
export const fitSpendings = async (
  sql: SqlReader,
  spendings: readonly Spending[],
): Promise<boolean[]> => {
  const wanted = spendings.map((spending, place) => ({ ...spending, place }));
  const rows = await sql.query<{ place: number; fits: boolean }>(FITS, [JSON.stringify(wanted)]);
  const fitting = new Set(rows.flatMap(({ place, fits }) => (fits ? [place] : [])));
  return spendings.map((_, place) => fitting.has(place));
};

/**
 * The project's daily cap in US dollars, a decimal string; null when the project does not exist.
 */
export const readDailyCap = async (db: Queryable, projectId: string): Promise<string | null> => {
  const row = await db.project.findUnique({
    where: { id: projectId },
    select: { dailyCapUsd: true },
  });
  return row === null ? null : row.dailyCapUsd.toFixed();
};

/** The sum that all keys of the project spent on the day, in US dollars (decimal string). */
export const readProjectSpend = async (
  db: Queryable,
  projectId: string,
  day: string,
): Promise<string> => {
  const where = { projectId_day: { projectId, day: new Date(`${day}T00:00:00Z`) } };
  const row = await db.projectSpend.findUnique({ where });
  return row?.spentUsd.toFixed() ?? "0";
};

/** Replaces the project's daily cap. Returns false when the cap is no longer `from`. */
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

// The worth of movements, as the policies priced them at acceptance.

const READ_MOVEMENTS = `
  SELECT id, facts->'movements' AS movements FROM policy_evaluation WHERE project_id = $1 AND id = ANY ($2::text[])`;

const storedMovements = z.array(
  z.object({ countsIn: z.string().default("all"), usd: z.string().nullable().default(null) }),
);

/**
 * The worth of the payment itself. Money that was first brought to the payment's chain is not
 * counted again.
 */
const worthOfAll = (movements: z.output<typeof storedMovements>): string | null => {
  const paid = movements.filter(({ countsIn }) => countsIn === "all");
  const counted = paid.length === 0 ? movements : paid;
  const worth = counted.length === 0 ? null : usdOf(counted);
  return worth === null ? null : fromAtto(worth);
};

/** @returns US dollars as decimal strings by evaluation id; those without a price are missing */
export const readWorths = async (
  sql: SqlReader,
  projectId: string,
  evaluationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (evaluationIds.length === 0) return new Map();
  const rows = await sql.query<{ id: string; movements: unknown }>(READ_MOVEMENTS, [
    projectId,
    evaluationIds,
  ]);
  return new Map(
    rows.flatMap(({ id, movements }) => {
      const { data } = storedMovements.safeParse(movements);
      const usd = data === undefined ? null : worthOfAll(data);
      return usd === null ? [] : [[id, usd] as const];
    }),
  );
};
