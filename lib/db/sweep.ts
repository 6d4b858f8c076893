import type { Database } from "./client";

const BATCH = 5000;

/** Rows that nobody will ask for again, a bounded batch of each at a time. */
const STATEMENTS = [
  "DELETE FROM idempotency_key WHERE ctid IN (SELECT ctid FROM idempotency_key WHERE expires_at < now() LIMIT $1)",
  "DELETE FROM instance WHERE ctid IN (SELECT ctid FROM instance WHERE beat_at < now() - interval '1 hour' LIMIT $1)",
  "DELETE FROM siwe_nonce WHERE ctid IN (SELECT ctid FROM siwe_nonce WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM rate_window WHERE ctid IN (SELECT ctid FROM rate_window WHERE window_start < now() - interval '1 hour' LIMIT $1)",
  "DELETE FROM email_code WHERE ctid IN (SELECT ctid FROM email_code WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM approval WHERE ctid IN (SELECT ctid FROM approval WHERE expires_at < now() - interval '1 day' LIMIT $1)",
  "DELETE FROM code_limit WHERE ctid IN (SELECT ctid FROM code_limit WHERE at < now() - interval '2 hours' LIMIT $1)",
  "DELETE FROM payout_row_key WHERE ctid IN (SELECT ctid FROM payout_row_key WHERE created_at < now() - interval '31 days' LIMIT $1)",
  "DELETE FROM dev_mail WHERE ctid IN (SELECT ctid FROM dev_mail WHERE created_at < now() - interval '7 days' LIMIT $1)",
];

export const sweepExpired = async ({ pool }: Pick<Database, "pool">): Promise<void> => {
  for (const statement of STATEMENTS) await pool.query(statement, [BATCH]);
};
