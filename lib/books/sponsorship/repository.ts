import { RefusedItemError } from "@/lib/platform/db/batches";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql, type Statement } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import type { Budget } from "./limits";
import { budgets, limits, type Usage, usages } from "./rows";

export type { Usage } from "./rows";

export interface UsageKey {
  readonly projectId: string;
  readonly chainId: number;
  /** A UTC day, such as `2026-01-31`. */
  readonly day: string;
}

type BudgetKey = Pick<UsageKey, "projectId" | "chainId">;

/**
 * Reserves wei from the budget. Returns false, with nothing reserved, when that would exceed the
 * limit. Safe under concurrent calls.
 */
export const reserve = async (
  db: Sql,
  { projectId, chainId, day }: UsageKey,
  wei: bigint,
  dailyWei: bigint,
): Promise<boolean> => {
  const reserved = await db.change(sql`
    INSERT INTO sponsor_usage (project_id, chain_id, day, reserved_wei, used_wei)
    SELECT ${projectId}::text, ${chainId}::int, ${day}::date, ${wei}::numeric, 0
    WHERE ${wei}::numeric <= ${dailyWei}::numeric
    ON CONFLICT (project_id, chain_id, day) DO UPDATE SET
      reserved_wei = sponsor_usage.reserved_wei + EXCLUDED.reserved_wei
    WHERE sponsor_usage.reserved_wei + sponsor_usage.used_wei + EXCLUDED.reserved_wei
      <= ${dailyWei}::numeric`);
  return reserved === 1;
};

/**
 * SQL of a limit: the operator's limit or else `otherwiseWei`, but at most the project's own limit.
 * PostgreSQL's least() ignores nulls.
 */
const limitOf = (
  { projectId, chainId }: BudgetKey,
  column: Statement,
  otherwiseWei: bigint,
): Statement => sql`
  coalesce(
    (
      SELECT least(coalesce(${column}, ${otherwiseWei}::numeric), own_${column})
      FROM sponsor_budget
      WHERE project_id = ${projectId} AND chain_id = ${chainId}::int
    ),
    ${otherwiseWei}::numeric
  )`;

/**
 * Like `reserve`, within the project's limits, or within `otherwise` when the operator has set
 * none.
 * @param largestWei the largest part to which the limit per operation applies
 * @returns false, with nothing reserved, when that would exceed a limit
 */
export const reserveWithin = async (
  db: Sql,
  key: UsageKey,
  {
    wei,
    largestWei,
    otherwise,
  }: { readonly wei: bigint; readonly largestWei: bigint; readonly otherwise: Budget },
): Promise<boolean> => {
  const dailyWei = limitOf(key, raw("daily_wei"), otherwise.dailyWei);
  const operationWei = limitOf(key, raw("operation_wei"), otherwise.operationWei);
  const reserved = await db.change(sql`
    INSERT INTO sponsor_usage (project_id, chain_id, day, reserved_wei, used_wei)
    SELECT ${key.projectId}::text, ${key.chainId}::int, ${key.day}::date, ${wei}::numeric, 0
    WHERE ${wei}::numeric <= ${dailyWei}
      AND ${largestWei}::numeric <= ${operationWei}
    ON CONFLICT (project_id, chain_id, day) DO UPDATE SET
      reserved_wei = sponsor_usage.reserved_wei + EXCLUDED.reserved_wei
    WHERE sponsor_usage.reserved_wei + sponsor_usage.used_wei + EXCLUDED.reserved_wei
      <= ${dailyWei}`);
  return reserved === 1;
};

export const release = async (
  db: Sql,
  { projectId, chainId, day }: UsageKey,
  change: { readonly wei: bigint; readonly spentWei: bigint },
): Promise<void> => {
  const released = await db.change(sql`
    UPDATE sponsor_usage SET
      reserved_wei = reserved_wei - ${change.wei}::numeric,
      used_wei = used_wei + ${change.spentWei}::numeric
    WHERE project_id = ${projectId} AND chain_id = ${chainId}::int AND day = ${day}::date`);
  if (released !== 1)
    throw new RefusedItemError("A reservation has no budget that it was taken from.");
};

/** Usage by chain id. Chains without reservations on the day are missing. */
export const readUsage = async (
  db: SqlReader,
  projectId: string,
  day: string,
): Promise<Map<number, Usage>> => {
  const rows = await usages.all(
    db,
    sql`
      SELECT ${usages.columns("u")} FROM sponsor_usage u
      WHERE u.project_id = ${projectId} AND u.day = ${day}::date`,
  );
  return new Map(rows.map(({ chainId, ...usage }) => [chainId, usage]));
};

/** The project's own limits; null when it has set none. */
export interface OwnBudget {
  readonly dailyWei: bigint | null;
  readonly operationWei: bigint | null;
}

/**
 * The limits of a project on a chain: the operator's (null when the configured ones apply) and the
 * project's own.
 */
export interface StoredBudget extends OwnBudget {
  readonly own: OwnBudget;
}

const budgetOf = (row: RowOf<typeof budgets>): readonly [number, StoredBudget] => [
  row.chainId,
  {
    dailyWei: row.dailyWei,
    operationWei: row.operationWei,
    own: { dailyWei: row.ownDailyWei, operationWei: row.ownOperationWei },
  },
];

/** The stored limits of a project by chain id: those of the operator, and the project's own. */
export const readBudgets = async (
  db: SqlReader,
  projectId: string,
): Promise<Map<number, StoredBudget>> => {
  const rows = await budgets.all(
    db,
    sql`SELECT ${budgets.columns("b")} FROM sponsor_budget b WHERE b.project_id = ${projectId}`,
  );
  return new Map(rows.map(budgetOf));
};

/** Reads the results of `readBudgets` and `readUsage` in one statement. */
export const readLimits = async (db: SqlReader, projectId: string, day: string) => {
  const rows = await limits.all(
    db,
    sql`
      SELECT ${limits.columns("found")}
      FROM (
        SELECT coalesce(b.chain_id, u.chain_id) AS chain_id,
          b.daily_wei, b.operation_wei, b.own_daily_wei, b.own_operation_wei,
          u.reserved_wei, u.used_wei
        FROM (SELECT * FROM sponsor_budget WHERE project_id = ${projectId}) AS b
        FULL JOIN (
          SELECT * FROM sponsor_usage WHERE project_id = ${projectId} AND day = ${day}::date
        ) AS u ON u.chain_id = b.chain_id
      ) AS found`,
  );
  const usage = new Map<number, Usage>();
  for (const { chainId, reservedWei, usedWei } of rows)
    if (reservedWei !== null && usedWei !== null) usage.set(chainId, { reservedWei, usedWei });
  return { budgets: new Map(rows.map(budgetOf)), usage };
};

/**
 * Stores the operator's limits. Null restores the configured limit.
 * @returns false when the project does not exist
 */
export const writeBudget = async (
  db: Sql,
  { projectId, chainId }: BudgetKey,
  { dailyWei, operationWei }: { readonly [K in keyof Budget]: bigint | null },
  now: Date,
): Promise<boolean> => {
  const written = await db.change(sql`
    INSERT INTO sponsor_budget (project_id, chain_id, daily_wei, operation_wei, updated_at)
    SELECT id, ${chainId}::int, ${dailyWei}::numeric, ${operationWei}::numeric, ${now}::timestamptz
    FROM project WHERE id = ${projectId}
    ON CONFLICT (project_id, chain_id) DO UPDATE SET
      daily_wei = EXCLUDED.daily_wei,
      operation_wei = EXCLUDED.operation_wei,
      updated_at = EXCLUDED.updated_at`);
  return written === 1;
};

/**
 * Replaces the project's own limits.
 * @returns false when the stored limits differ from `from`
 */
export const replaceOwnBudget = async (
  db: Sql,
  { projectId, chainId }: BudgetKey,
  { from, to, at }: { readonly from: OwnBudget; readonly to: OwnBudget; readonly at: Date },
): Promise<boolean> => {
  const replaced = await db.change(sql`
    INSERT INTO sponsor_budget (
      project_id, chain_id, own_daily_wei, own_operation_wei, updated_at
    )
    VALUES (
      ${projectId},
      ${chainId}::int,
      ${to.dailyWei}::numeric,
      ${to.operationWei}::numeric,
      ${at}::timestamptz
    )
    ON CONFLICT (project_id, chain_id) DO UPDATE SET
      own_daily_wei = EXCLUDED.own_daily_wei,
      own_operation_wei = EXCLUDED.own_operation_wei,
      updated_at = EXCLUDED.updated_at
    WHERE sponsor_budget.own_daily_wei IS NOT DISTINCT FROM ${from.dailyWei}::numeric
      AND sponsor_budget.own_operation_wei IS NOT DISTINCT FROM ${from.operationWei}::numeric`);
  return replaced === 1;
};
