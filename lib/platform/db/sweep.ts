import { outageOf } from "@/lib/core/outage";
import type { Database } from "./client";
import { findDistributed, nodeOfProject } from "./sql";
import { claimRun, postponeRun } from "./periodic-tasks";

const BATCH = 5000;
/** Maximum number of batches of one table before the next table is swept. */
const BATCHES_MAX = 40;

/** Ages in days after which rows are swept; the configuration has the same fields. */
export interface SweptAges {
  readonly quotesDays: number;
  readonly codesDays: number;
  readonly rawTransactionsDays: number;
  readonly snapshotsDays: number;
  readonly apiRequestsDays: number;
  readonly notificationsDays: number;
  readonly deliveriesDays: number;
}

interface Sweep {
  /** $1 is the size of a batch. $2 is the age in days, if the sweep has an age. */
  readonly text: string;
  /**
   * For a distributed table of a cluster: the same statement for one project. The project is the
   * next parameter.
   */
  readonly ofProject?: string;
  /** True when `ofProject` takes two more parameters: the time ranges that `RESTORED` returns. */
  readonly keepsRestored?: boolean;
  readonly age?: keyof SweptAges;
}

const rowsOf = (table: string, condition: string): string =>
  `DELETE FROM ${table} WHERE ctid IN (SELECT ctid FROM ${table} WHERE ${condition} LIMIT $1)`;

interface HotRows {
  readonly table: string;
  /** The primary key, because a `ctid` refers to different rows in each shard. */
  readonly key: string;
  readonly condition: string;
}

const hotRowsOfProject = ({ table, key, condition }: HotRows): string => {
  const isProject = `project_id = ${condition.includes("$2") ? "$3" : "$2"}`;
  return `DELETE FROM ${table} WHERE ${isProject} AND (${key}) IN (SELECT ${key} FROM ${table} WHERE ${isProject} AND ${condition} LIMIT $1)`;
};

/** Like `rowsOf`, for a table that may be distributed. */
const hotRows = (rows: HotRows): Pick<Sweep, "text" | "ofProject"> => ({
  text: `DELETE FROM ${rows.table} WHERE (${rows.key}) IN (SELECT ${rows.key} FROM ${rows.table} WHERE ${rows.condition} LIMIT $1)`,
  ofProject: hotRowsOfProject(rows),
});

const OLDER = "now() - $2::int * interval '1 day'";

/**
 * The time ranges of months that were restored from their archive. Their rows stay until they are
 * archived again. The ranges end 30 days after the month, because its last deliveries were
 * attempted after its end.
 */
const RESTORED = `
  SELECT coalesce(array_agg(starts_at), '{}') AS starts, coalesce(array_agg(ends_at + interval '30 days'), '{}') AS ends
  FROM archive_month WHERE state IN ('restoring', 'restored')`;

const isNotRestored = (time: string): string => `NOT EXISTS (
  SELECT FROM archive_month m WHERE m.state IN ('restoring', 'restored') AND ${time} >= m.starts_at
    AND ${time} < m.ends_at + interval '30 days')`;

const isNotWithin = (time: string): string => `NOT EXISTS (
  SELECT FROM unnest($4::timestamptz[], $5::timestamptz[]) AS m (starts_at, ends_at) WHERE ${time} >= m.starts_at AND ${time} < m.ends_at)`;

/** Rows of webhooks older than their age, except rows of restored months. */
const webhookRows = (table: string, key: string, time: string): Sweep => ({
  text: rowsOf(table, `${time} < ${OLDER} AND ${isNotRestored(time)}`),
  ofProject: hotRowsOfProject({
    table,
    key,
    condition: `${time} < ${OLDER} AND ${isNotWithin(time)}`,
  }),
  keepsRestored: true,
  age: "deliveriesDays",
});

/**
 * Each statement deletes one batch of rows that are no longer needed. All times are from the
 * database's clock.
 */
const SWEEPS: readonly Sweep[] = [
  { text: rowsOf("idempotency_key", "expires_at < now()") },
  { text: rowsOf("instance", "beat_at < now() - interval '1 hour'") },
  // Used and expired nonces stay for a day, so that a second use is recognised as such.
  { text: rowsOf("siwe_nonce", "expires_at < now() - interval '1 day'") },
  { text: rowsOf("rate_window", "window_start < now() - interval '1 hour'") },
  { text: rowsOf("email_code", "expires_at < now() - interval '1 day'") },
  { text: rowsOf("passkey_challenge", "expires_at < now() - interval '1 day'") },
  { text: rowsOf("approval", "expires_at < now() - interval '1 day'") },
  { text: rowsOf("code_limit", "at < now() - interval '2 hours'") },
  hotRows({
    table: "payout_row_key",
    key: "project_id, row_key, payout_id, index",
    condition: "created_at < now() - interval '31 days'",
  }),
  { text: rowsOf("dev_mail", "created_at < now() - interval '7 days'") },
  { text: rowsOf("callback", "received_at < now() - interval '30 days'") },
  webhookRows("webhook_delivery", "project_id, id", "created_at"),
  webhookRows("webhook_attempt", "project_id, delivery_id, number", "at"),
  // A file expires 7 days after its export was created. All of its parts are younger than the
  // export, so parts older than 8 days are no longer needed.
  { text: rowsOf("export_chunk", "created_at < now() - interval '8 days'") },
  { text: rowsOf("export", "created_at < now() - interval '30 days'") },
  { text: rowsOf("webhook_secret", "expires_at < now() - interval '1 day'") },
  // A quote with an operation documents how the operation was priced and approved, so it stays.
  {
    ...hotRows({
      table: "quote",
      key: "project_id, id",
      condition: `operation_id IS NULL AND status <> 'used' AND expires_at < ${OLDER}
      AND (prepared_until IS NULL OR prepared_until < ${OLDER})`,
    }),
    age: "quotesDays",
  },
  // Codes may be deleted, because the audit log stores who approved which action with which code.
  { text: rowsOf("otp", `expires_at < ${OLDER}`), age: "codesDays" },
  { text: rowsOf("balance_snapshot", `hour < ${OLDER}`), age: "snapshotsDays" },
  {
    ...hotRows({ table: "api_request", key: "project_id, id", condition: `at < ${OLDER}` }),
    age: "apiRequestsDays",
  },
  {
    text: rowsOf(
      "push_subscription",
      `NOT EXISTS (
        SELECT 1 FROM session s
        WHERE s.id = session_id AND s.revoked_at IS NULL AND s.expires_at > now()
      )`,
    ),
  },
  { text: rowsOf("notification", `created_at < ${OLDER}`), age: "notificationsDays" },
  // The row stays, because it proves which transaction used which nonce in which block; only large
  // columns are cleared.
  {
    text: `UPDATE chain_transaction SET raw = '' WHERE ctid IN (
      SELECT ctid FROM chain_transaction WHERE status = 'final' AND raw <> '' AND updated_at < ${OLDER} LIMIT $1)`,
    age: "rawTransactionsDays",
  },
];

type Pool = Pick<Database, "pool">;

const sweepBatches = async (
  { pool }: Pool,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    if (signal?.aborted === true) return false;
    const { rowCount } = await pool.query(text, [...values]);
    if ((rowCount ?? 0) < BATCH) return false;
  }
  return true;
};

const PROJECTS = `SELECT id, ${nodeOfProject("id")} AS node FROM project WHERE id > $1 ORDER BY id LIMIT $2::int`;
const PROJECTS_AT_ONCE = 500;

interface PlacedProject {
  readonly id: string;
  readonly node: number;
}

const placedProjects = async function* ({ pool }: Pool): AsyncGenerator<PlacedProject> {
  for (let after = ""; ;) {
    const { rows } = await pool.query<PlacedProject>(PROJECTS, [after, PROJECTS_AT_ONCE]);
    yield* rows;
    if (rows.length < PROJECTS_AT_ONCE) return;
    after = rows.at(-1)?.id ?? "";
  }
};

interface Sweeping {
  readonly ages: SweptAges;
  readonly signal: AbortSignal | undefined;
  /** For each unreachable cluster node, by its group, the error. */
  readonly failures: Map<number, unknown>;
}

/** Sweeps the rows of each project separately, and skips projects whose node cannot be reached. */
const sweepEach = async (
  database: Pool,
  {
    text,
    keepsRestored,
    values,
  }: { readonly text: string; readonly keepsRestored: boolean; readonly values: unknown[] },
  { signal, failures }: Sweeping,
): Promise<boolean> => {
  const { rows } = await database.pool.query<{ starts: Date[]; ends: Date[] }>(RESTORED);
  const restored = keepsRestored ? [rows[0]?.starts, rows[0]?.ends] : [];
  let isLeft = false;
  for await (const { id, node } of placedProjects(database)) {
    if (signal?.aborted === true) return false;
    if (failures.has(node)) continue;
    try {
      if (await sweepBatches(database, { text, values: [...values, id, ...restored] }, signal))
        isLeft = true;
    } catch (error) {
      if (outageOf(error) !== "database") throw error;
      failures.set(node, error);
    }
  }
  return isLeft;
};

/**
 * Sweeps a limited number of batches of one table.
 * @returns whether rows may remain
 */
const sweepTable = async (
  database: Pool,
  { text, ofProject, keepsRestored = false, age }: Sweep,
  sweeping: Sweeping,
): Promise<boolean> => {
  const values = age === undefined ? [BATCH] : [BATCH, sweeping.ages[age]];
  if (ofProject !== undefined && (await findDistributed(database.pool)))
    return sweepEach(database, { text: ofProject, keepsRestored, values }, sweeping);
  return sweepBatches(database, { text, values }, sweeping.signal);
};

/**
 * Deletes expired rows of every table in batches, so that no transaction is long. Each turn deletes
 * at most 200,000 rows of a table, and turns continue until nothing remains, so a sweep is as fast
 * as the database allows.
 * @param onTurn called before each further turn
 * @throws on a cluster the error of an unreachable node, after all others were swept
 */
export const sweepExpired = async (
  database: Pool,
  ages: SweptAges,
  { signal, onTurn }: { signal?: AbortSignal; onTurn?: () => Promise<void> } = {},
): Promise<void> => {
  const sweeping: Sweeping = { ages, signal, failures: new Map() };
  let due = SWEEPS;
  while (due.length > 0) {
    const left: Sweep[] = [];
    for (const sweep of due) if (await sweepTable(database, sweep, sweeping)) left.push(sweep);
    due = left;
    if (due.length > 0) await onTurn?.();
  }
  for (const failure of sweeping.failures.values()) throw failure;
};

/**
 * Sweeps unless another instance has done so within the last `everyMs` milliseconds.
 * @param signal ends the sweep after its current batch
 * @returns whether this call swept
 */
export const sweepWhenDue = async (
  database: Pool,
  ages: SweptAges,
  { everyMs, signal }: { everyMs: number; signal?: AbortSignal },
): Promise<boolean> => {
  const task = { name: "sweep", everyMs };
  if (!(await claimRun(database, task))) return false;
  const onTurn = (): Promise<void> => postponeRun(database, task);
  await sweepExpired(database, ages, signal === undefined ? { onTurn } : { signal, onTurn });
  return true;
};
