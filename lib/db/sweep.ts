import type { Database } from "./client";
import { claimRun, postponeRun } from "./periodic-tasks";

const BATCH = 5000;
/** Batches of one table before the next table has its turn. */
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
  /** $1 is the size of a batch; $2, where there is an age, the age in days. */
  readonly text: string;
  readonly age?: keyof SweptAges;
}

/**
 * Deletes a batch of the rows of a table that meet a condition.
 * @param key names a row; in a table that may be distributed its primary key, because a `ctid` belongs to another row in each shard
 */
const rowsOf = (table: string, condition: string, key = "ctid"): string =>
  `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT $1)`;

const OLDER = "now() - $2::int * interval '1 day'";

/** A month that was brought back from its archive stays until it is archived again. Its last deliveries were attempted after its end. */
const isNotRestored = (time: string): string => `NOT EXISTS (
  SELECT FROM archive_month m WHERE m.state IN ('restoring', 'restored') AND ${time} >= m.starts_at
    AND ${time} < m.ends_at + interval '30 days')`;

/** Each sweeps one batch of rows that are no longer needed. Times are those of the database. */
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
  {
    text: rowsOf("payout_row_key", "created_at < now() - interval '31 days'", "project_id, row_key, payout_id, index"),
  },
  { text: rowsOf("dev_mail", "created_at < now() - interval '7 days'") },
  { text: rowsOf("callback", "received_at < now() - interval '30 days'") },
  {
    text: rowsOf("webhook_delivery", `created_at < ${OLDER} AND ${isNotRestored("created_at")}`),
    age: "deliveriesDays",
  },
  { text: rowsOf("webhook_attempt", `at < ${OLDER} AND ${isNotRestored("at")}`), age: "deliveriesDays" },
  { text: rowsOf("webhook_secret", "expires_at < now() - interval '1 day'") },
  // A quote with an operation says how the operation was priced and approved, so it stays.
  {
    text: rowsOf(
      "quote",
      `operation_id IS NULL AND status <> 'used' AND expires_at < ${OLDER}
      AND (prepared_until IS NULL OR prepared_until < ${OLDER})`,
      "project_id, id",
    ),
    age: "quotesDays",
  },
  // Who approved what with which code stays in the audit log.
  { text: rowsOf("otp", `expires_at < ${OLDER}`), age: "codesDays" },
  { text: rowsOf("balance_snapshot", `hour < ${OLDER}`), age: "snapshotsDays" },
  { text: rowsOf("api_request", `at < ${OLDER}`, "project_id, id"), age: "apiRequestsDays" },
  { text: rowsOf("notification", `created_at < ${OLDER}`), age: "notificationsDays" },
  // The row stays: it proves which transaction used which nonce, in which block.
  {
    text: `UPDATE chain_transaction SET raw = '' WHERE ctid IN (
      SELECT ctid FROM chain_transaction WHERE status = 'final' AND raw <> '' AND updated_at < ${OLDER} LIMIT $1)`,
    age: "rawTransactionsDays",
  },
];

type Pool = Pick<Database, "pool">;

/** @returns whether rows may be left */
const sweepTable = async (
  { pool }: Pool,
  { text, age }: Sweep,
  ages: SweptAges,
  signal?: AbortSignal,
): Promise<boolean> => {
  for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
    if (signal?.aborted === true) return false;
    const { rowCount } = await pool.query(text, age === undefined ? [BATCH] : [BATCH, ages[age]]);
    if ((rowCount ?? 0) < BATCH) return false;
  }
  return true;
};

/**
 * Deletes expired rows of every table, in batches, so that no transaction is long. Each table has 200,000 rows of a turn, and the turns
 * go on until nothing is left, so a sweep deletes as fast as the database can.
 * @param onTurn called before each further turn
 */
export const sweepExpired = async (
  database: Pool,
  ages: SweptAges,
  { signal, onTurn }: { signal?: AbortSignal; onTurn?: () => Promise<void> } = {},
): Promise<void> => {
  let due = SWEEPS;
  while (due.length > 0) {
    const left: Sweep[] = [];
    for (const sweep of due) if (await sweepTable(database, sweep, ages, signal)) left.push(sweep);
    due = left;
    if (due.length > 0) await onTurn?.();
  }
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
