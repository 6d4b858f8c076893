import { RefusedItemError } from "@/lib/platform/db/batches";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { Budget } from "./limits";

/** The budget of one project on one chain and UTC day (`2026-01-31`). */
export interface UsageKey {
  readonly projectId: string;
  readonly chainId: number;
  readonly day: string;
}

/** Reserved and spent amounts of a budget, in wei. */
export interface Usage {
  readonly reservedWei: bigint;
  readonly usedWei: bigint;
}

const valuesOf = ({ projectId, chainId, day }: UsageKey): unknown[] => [projectId, chainId, day];

const RESERVE = `
  INSERT INTO sponsor_usage (project_id, chain_id, day, reserved_wei, used_wei)
  SELECT $1, $2::int, $3::date, $4::numeric, 0 WHERE $4::numeric <= $5::numeric
  ON CONFLICT (project_id, chain_id, day) DO UPDATE SET reserved_wei = sponsor_usage.reserved_wei + EXCLUDED.reserved_wei
  WHERE sponsor_usage.reserved_wei + sponsor_usage.used_wei + EXCLUDED.reserved_wei <= $5::numeric`;

/**
 * Reserves wei from the budget. Returns false and reserves nothing when that would exceed the
 * limit; safe under concurrent calls.
 */
export const reserve = async (
  sql: Sql,
  key: UsageKey,
  wei: bigint,
  dailyWei: bigint,
): Promise<boolean> =>
  (await sql.change(RESERVE, [...valuesOf(key), wei.toString(), dailyWei.toString()])) === 1;

/**
 * The operator's limit or else `otherwise`, but at most the project's own limit. PostgreSQL's
 * least() ignores nulls.
 */
const LIMIT = (column: string, otherwise: string): string => `
  coalesce((SELECT least(coalesce(${column}, ${otherwise}), own_${column}) FROM sponsor_budget
    WHERE project_id = $1 AND chain_id = $2::int), ${otherwise})`;
const DAILY = LIMIT("daily_wei", "$5::numeric");
const RESERVE_WITHIN = `
  INSERT INTO sponsor_usage (project_id, chain_id, day, reserved_wei, used_wei)
  SELECT $1, $2::int, $3::date, $4::numeric, 0
  WHERE $4::numeric <= ${DAILY} AND $6::numeric <= ${LIMIT("operation_wei", "$7::numeric")}
  ON CONFLICT (project_id, chain_id, day) DO UPDATE SET reserved_wei = sponsor_usage.reserved_wei + EXCLUDED.reserved_wei
  WHERE sponsor_usage.reserved_wei + sponsor_usage.used_wei + EXCLUDED.reserved_wei <= ${DAILY}`;

/**
 * Like `reserve`, within the limits of the project, or within `otherwise` when the operator has set
 * none.
 * @param largestWei the largest part to which the limit for one operation applies
 * @returns false, with nothing reserved, when that would exceed a limit
 */
export const reserveWithin = async (
  sql: Sql,
  key: UsageKey,
  {
    wei,
    largestWei,
    otherwise,
  }: { readonly wei: bigint; readonly largestWei: bigint; readonly otherwise: Budget },
): Promise<boolean> => {
  const amounts = [wei, otherwise.dailyWei, largestWei, otherwise.operationWei].map(String);
  return (await sql.change(RESERVE_WITHIN, [...valuesOf(key), ...amounts])) === 1;
};

const RELEASE = `
  UPDATE sponsor_usage SET reserved_wei = reserved_wei - $4::numeric, used_wei = used_wei + $5::numeric
  WHERE project_id = $1 AND chain_id = $2::int AND day = $3::date`;

/** Reduces the reserved amount by `wei`, and adds `spentWei` to the spent amount. */
export const release = async (
  sql: Sql,
  key: UsageKey,
  change: { readonly wei: bigint; readonly spentWei: bigint },
): Promise<void> => {
  const values = [...valuesOf(key), change.wei.toString(), change.spentWei.toString()];
  if ((await sql.change(RELEASE, values)) !== 1)
    throw new RefusedItemError("A reservation has no budget that it was taken from.");
};

interface UsageRow {
  chain_id: number;
  reserved: string;
  used: string;
}

/** Usage by chain id. Chains without reservations on the day are missing from the map. */
export const readUsage = async (
  sql: SqlReader,
  projectId: string,
  day: string,
): Promise<Map<number, Usage>> => {
  const rows = await sql.query<UsageRow>(
    `SELECT chain_id, reserved_wei::text AS reserved, used_wei::text AS used
     FROM sponsor_usage WHERE project_id = $1 AND day = $2::date`,
    [projectId, day],
  );
  return new Map(
    rows.map((row) => [
      row.chain_id,
      { reservedWei: BigInt(row.reserved), usedWei: BigInt(row.used) } as const,
    ]),
  );
};

/** The limits that the project has set for itself; null when only the operator's apply. */
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

interface BudgetRow {
  chain_id: number;
  daily: string | null;
  operation: string | null;
  own_daily: string | null;
  own_operation: string | null;
}

const weiOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

const budgetOf = (row: BudgetRow): readonly [number, StoredBudget] => [
  row.chain_id,
  {
    dailyWei: weiOf(row.daily),
    operationWei: weiOf(row.operation),
    own: { dailyWei: weiOf(row.own_daily), operationWei: weiOf(row.own_operation) },
  },
];

/**
 * Reads the limits of a project by chain id: those that the operator has set instead of the
 * configured ones, and those that the project has set.
 */
export const readBudgets = async (
  sql: SqlReader,
  projectId: string,
): Promise<Map<number, StoredBudget>> => {
  const rows = await sql.query<BudgetRow>(
    `SELECT chain_id, daily_wei::text AS daily, operation_wei::text AS operation, own_daily_wei::text AS own_daily,
       own_operation_wei::text AS own_operation
     FROM sponsor_budget WHERE project_id = $1`,
    [projectId],
  );
  return new Map(rows.map(budgetOf));
};

const LIMITS = `
  SELECT coalesce(b.chain_id, u.chain_id) AS chain_id, b.daily_wei::text AS daily, b.operation_wei::text AS operation,
    b.own_daily_wei::text AS own_daily, b.own_operation_wei::text AS own_operation,
    u.reserved_wei::text AS reserved, u.used_wei::text AS used
  FROM (SELECT * FROM sponsor_budget WHERE project_id = $1) b
  FULL JOIN (SELECT * FROM sponsor_usage WHERE project_id = $1 AND day = $2::date) u ON u.chain_id = b.chain_id`;

/** Reads in one statement the budgets and the usage that `readBudgets` and `readUsage` return. */
export const readLimits = async (sql: SqlReader, projectId: string, day: string) => {
  const rows = await sql.query<BudgetRow & { reserved: string | null; used: string | null }>(
    LIMITS,
    [projectId, day],
  );
  const budgets = new Map(rows.map(budgetOf));
  const usage = new Map(
    rows.flatMap(({ chain_id, reserved, used }): [number, Usage][] =>
      reserved === null || used === null
        ? []
        : [[chain_id, { reservedWei: BigInt(reserved), usedWei: BigInt(used) }]],
    ),
  );
  return { budgets, usage };
};

const WRITE_BUDGET = `
  INSERT INTO sponsor_budget (project_id, chain_id, daily_wei, operation_wei, updated_at)
  SELECT id, $2::int, $3::numeric, $4::numeric, $5::timestamptz FROM project WHERE id = $1
  ON CONFLICT (project_id, chain_id) DO UPDATE
  SET daily_wei = EXCLUDED.daily_wei, operation_wei = EXCLUDED.operation_wei, updated_at = EXCLUDED.updated_at`;

/**
 * Stores the operator's limits; null restores the configured limit.
 * @returns false when the project does not exist
 */
export const writeBudget = async (
  sql: Sql,
  { projectId, chainId }: Pick<UsageKey, "projectId" | "chainId">,
  budget: { readonly [K in keyof Budget]: bigint | null },
  now: Date,
): Promise<boolean> => {
  const { dailyWei, operationWei } = budget;
  const values = [
    projectId,
    chainId,
    dailyWei?.toString() ?? null,
    operationWei?.toString() ?? null,
  ];
  return (await sql.change(WRITE_BUDGET, [...values, now.toISOString()])) === 1;
};

const REPLACE_OWN = `
  INSERT INTO sponsor_budget (project_id, chain_id, own_daily_wei, own_operation_wei, updated_at)
  VALUES ($1, $2::int, $3::numeric, $4::numeric, $5::timestamptz)
  ON CONFLICT (project_id, chain_id) DO UPDATE
  SET own_daily_wei = EXCLUDED.own_daily_wei, own_operation_wei = EXCLUDED.own_operation_wei, updated_at = EXCLUDED.updated_at
  WHERE sponsor_budget.own_daily_wei IS NOT DISTINCT FROM $6::numeric
    AND sponsor_budget.own_operation_wei IS NOT DISTINCT FROM $7::numeric`;

/** Stores the project's own limits. @returns false when they are no longer `from` */
export const replaceOwnBudget = async (
  sql: Sql,
  { projectId, chainId }: Pick<UsageKey, "projectId" | "chainId">,
  { from, to, at }: { readonly from: OwnBudget; readonly to: OwnBudget; readonly at: Date },
): Promise<boolean> => {
  const text = (wei: bigint | null): string | null => wei?.toString() ?? null;
  const values = [
    text(to.dailyWei),
    text(to.operationWei),
    at.toISOString(),
    text(from.dailyWei),
    text(from.operationWei),
  ];
  return (await sql.change(REPLACE_OWN, [projectId, chainId, ...values])) === 1;
};
