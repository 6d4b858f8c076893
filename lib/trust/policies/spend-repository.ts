import type { Queryable } from "@/lib/platform/db/client";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import { bool, decimal, int, table, text } from "@/lib/platform/db/table";
import { type Spending, spendings } from "./rows";

/** Number of changed rows (0 or 1) of the project's spending and of the key's spending. */
const additions = table({ project: int, key: int });

/**
 * Adds an amount to the day's spending of the key and of its project. Returns false and adds
 * nothing when the sum would exceed either cap, even under concurrent calls. The project's row is
 * always changed first, and the key's row only if that succeeded. The common order prevents
 * deadlocks between keys.
 * @param db must be inside a transaction
 */
export const addSpending = async (db: Sql, spending: Spending): Promise<boolean> => {
  const { projectId, apiKeyId, day, usd, capUsd } = spending;
  const projectCap = sql`(SELECT daily_cap_usd FROM project WHERE id = ${projectId})`;
  const added = await additions.first(
    db,
    sql`
      WITH rounded AS (
        SELECT ceil(${usd}::numeric * 1000000) / 1000000 AS usd
      ), project_part AS (
        INSERT INTO project_spend (project_id, day, spent_usd)
        SELECT ${projectId}, ${day}::date, rounded.usd
        FROM rounded
        WHERE rounded.usd <= ${projectCap}
        ON CONFLICT (project_id, day) DO UPDATE SET
          spent_usd = project_spend.spent_usd + EXCLUDED.spent_usd
        WHERE project_spend.spent_usd + EXCLUDED.spent_usd <= ${projectCap}
        RETURNING 1
      ), key_part AS (
        INSERT INTO policy_spend (api_key_id, day, spent_usd)
        SELECT ${apiKeyId}, ${day}::date, rounded.usd
        FROM rounded, project_part
        WHERE rounded.usd <= ${capUsd}::numeric
        ON CONFLICT (api_key_id, day) DO UPDATE SET
          spent_usd = policy_spend.spent_usd + EXCLUDED.spent_usd
        WHERE policy_spend.spent_usd + EXCLUDED.spent_usd <= ${capUsd}::numeric
        RETURNING 1
      )
      SELECT (SELECT count(*) FROM project_part)::int AS project,
        (SELECT count(*) FROM key_part)::int AS key`,
  );
  if (added?.project !== 1) return false;
  if (added.key === 1) return true;
  await db.change(sql`
    UPDATE project_spend SET spent_usd = spent_usd - rounded.usd
    FROM (SELECT ceil(${usd}::numeric * 1000000) / 1000000 AS usd) AS rounded
    WHERE project_id = ${projectId} AND day = ${day}::date`);
  return false;
};

const fits = table({ place: int, fits: bool });

/**
 * Whether each amount, taken singly, fits into the caps of its key and its project now. Adds
 * nothing.
 */
export const fitSpendings = async (
  db: SqlReader,
  wanted: readonly Spending[],
): Promise<boolean[]> => {
  const placed = wanted.map((spending, place) => ({ ...spending, place }));
  const rows = await fits.all(
    db,
    sql`
      SELECT w.place,
        ceil(w.usd * 1000000) / 1000000 + coalesce(p.spent_usd, 0) <= project.daily_cap_usd
          AND ceil(w.usd * 1000000) / 1000000 + coalesce(k.spent_usd, 0) <= w.cap_usd AS fits
      FROM ${spendings.list(placed)} AS w
      JOIN project ON project.id = w.project_id
      LEFT JOIN project_spend p ON p.project_id = w.project_id AND p.day = w.day
      LEFT JOIN policy_spend k ON k.api_key_id = w.api_key_id AND k.day = w.day`,
  );
  const fitting = new Set(rows.flatMap((row) => (row.fits ? [row.place] : [])));
  return wanted.map((_, place) => fitting.has(place));
};

/**
 * The project's daily cap in US dollars, a decimal string; null when the project does not exist.
 */
export const readDailyCap = async (
  db: Queryable,
  projectId: string,
): Promise<string | null> => {
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

/** Replaces the project's daily cap. Returns false when the stored cap is no longer `from`. */
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

/**
 * SQL: a subquery with the worth in US dollars of the payment that the evaluation priced, and with
 * the movements whose sum it is. Has no row when one of the movements has no price. A price of zero
 * counts as no price, as in `usdOf`. Movements that bring money to the payment's chain are left
 * out, because the payment counts the same money.
 * @param evaluation alias of the row of `policy_evaluation`
 */
export const pricedPayment = (evaluation: string): Statement => sql`
  (
    SELECT sum(part.usd) AS worth, jsonb_agg(part.movement) AS movements
    FROM (
      SELECT
        one.movement,
        (one.movement->>'usd')::numeric AS usd,
        coalesce(one.movement->>'countsIn', 'all') = 'all' AS is_payment,
        bool_or(coalesce(one.movement->>'countsIn', 'all') = 'all') OVER () AS has_payment
      FROM jsonb_array_elements(
        coalesce(${raw(evaluation)}.facts->'movements', '[]')
      ) AS one (movement)
    ) AS part
    WHERE part.is_payment OR NOT part.has_payment
    HAVING count(*) > 0 AND bool_and(coalesce(part.usd, 0) > 0)
  )`;

const pricedEvaluations = table({ id: text, worth: decimal });

/**
 * For each evaluation id, the worth of its payment in US dollars, a decimal string. Evaluations
 * without a price are missing.
 */
export const readWorths = async (
  db: SqlReader,
  projectId: string,
  evaluationIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (evaluationIds.length === 0) return new Map();
  const rows = await pricedEvaluations.all(
    db,
    sql`
      SELECT e.id, trim_scale(priced.worth)::text AS worth
      FROM policy_evaluation e
      CROSS JOIN LATERAL ${pricedPayment("e")} AS priced
      WHERE e.project_id = ${projectId} AND e.id = ANY (${evaluationIds}::text[])`,
  );
  return new Map(rows.map(({ id, worth }) => [id, worth]));
};
