import type { Database } from "./client";
import { claimRun } from "./periodic-tasks";

const BATCH = 5000;
/** Bounds one sweep of a table; the next sweep deletes the rest. */
const BATCHES_MAX = 40;

/** Each deletes one batch of rows that are no longer needed. Times are those of the database. */
const STATEMENTS = [
  "DELETE FROM idempotency_key WHERE ctid IN (SELECT ctid FROM idempotency_key WHERE expires_at < now() LIMIT $1)",
  "DELETE FROM instance WHERE ctid IN (SELECT ctid FROM instance WHERE beat_at < now() - interval '1 hour' LIMIT $1)",
  // Used and expired nonces stay for a day, so that a second use is recognised as such.
  "DELETE FROM siwe_nonce WHERE ctid IN (SELECT ctid FROM siwe_nonce WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM rate_window WHERE ctid IN (SELECT ctid FROM rate_window WHERE window_start < now() - interval '1 hour' LIMIT $1)",
  "DELETE FROM email_code WHERE ctid IN (SELECT ctid FROM email_code WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM approval WHERE ctid IN (SELECT ctid FROM approval WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM code_limit WHERE ctid IN (SELECT ctid FROM code_limit WHERE at < now() - interval '2 hours' LIMIT $1)",
  "DELETE FROM payout_row_key WHERE ctid IN (SELECT ctid FROM payout_row_key WHERE created_at < now() - interval '31 days' LIMIT $1)",
  "DELETE FROM dev_mail WHERE ctid IN (SELECT ctid FROM dev_mail WHERE created_at < now() - interval '7 days' LIMIT $1)",
  "DELETE FROM callback WHERE ctid IN (SELECT ctid FROM callback WHERE received_at < now() - interval '30 days' LIMIT $1)",
  "DELETE FROM webhook_delivery WHERE ctid IN (SELECT ctid FROM webhook_delivery WHERE created_at < now() - interval '30 days' LIMIT $1)",
  "DELETE FROM webhook_attempt WHERE ctid IN (SELECT ctid FROM webhook_attempt WHERE at < now() - interval '30 days' LIMIT $1)",
  "DELETE FROM webhook_secret WHERE ctid IN (SELECT ctid FROM webhook_secret WHERE expires_at < now() - interval '1 day' LIMIT $1)",
];

/** Deletes expired rows of every table, in batches, so that no transaction is long. */
export const sweepExpired = async ({ pool }: Pick<Database, "pool">): Promise<void> => {
  for (const statement of STATEMENTS) {
    for (let batch = 0; batch < BATCHES_MAX; batch += 1) {
      const { rowCount } = await pool.query(statement, [BATCH]);
      if ((rowCount ?? 0) < BATCH) break;
    }
  }
};

/**
 * Sweeps unless another instance has done so within the last `everyMs` milliseconds.
 * @returns whether this call swept
 */
export const sweepWhenDue = async (database: Pick<Database, "pool">, everyMs: number): Promise<boolean> => {
  if (!(await claimRun(database, { name: "sweep", everyMs }))) return false;
  await sweepExpired(database);
  return true;
};
