import type { Database } from "@/lib/platform/db/client";
import { sqlOn } from "@/lib/platform/db/sql";
import type { CallbackEvent, CallbackSource, VerifiedBy } from "./verify";

export interface NewCallback {
  readonly source: CallbackSource;
  readonly event: CallbackEvent;
  readonly verifiedBy: VerifiedBy;
  readonly raw: Uint8Array;
  readonly receivedAt: Date;
}

// A callback does not name a project, so operations and payouts are searched in all projects.
const NAMED = `
  SELECT o.id FROM operation o WHERE o.id = ANY($1::text[])
  UNION
  SELECT l.operation_id FROM operation_leg l
  WHERE l.source_tx_hash = ANY($2::text[]) OR l.dest_tx_hash = ANY($2::text[]) OR l.refund_tx_hash = ANY($2::text[])
    OR l.user_op_hash = ANY($2::text[])
  UNION
  SELECT b.payout_id FROM wallet_payout_batch b WHERE b.user_op_hash = ANY($2::text[])`;

// One statement that stores the callback and makes the named jobs due. A running job queries the
// chain anyway; a sleeping job runs now.
const RECEIVE = `
  WITH named AS (
    SELECT j.id, j.queue FROM job j
    WHERE $9::boolean AND j.queue IN ('operation', 'payout') AND j.id IN (
      SELECT unnest($10::text[]))
  ), stored AS (
    INSERT INTO callback (source, event_key, provider, type, status_word, verified_by, outcome, body, received_at)
    SELECT $1, $2, $3, $4, $5, $6,
      CASE WHEN NOT $9::boolean THEN 'unknown' WHEN EXISTS (SELECT 1 FROM named) THEN 'woke' ELSE 'unmatched' END,
      $7::bytea, $8::timestamptz
    ON CONFLICT (source, event_key) DO UPDATE SET count = callback.count + 1
    RETURNING count
  ), locked AS MATERIALIZED (
    SELECT j.id, j.queue FROM job j JOIN named n ON n.id = j.id AND n.queue = j.queue
    WHERE (SELECT count FROM stored) = 1 ORDER BY j.id COLLATE "C" FOR NO KEY UPDATE OF j
  ), woken AS (
    UPDATE job j SET run_at = least(j.run_at, now()) FROM locked n WHERE j.id = n.id AND j.queue = n.queue
  )
  SELECT count FROM stored`;

export const createCallbacksRepository = ({ pool }: Pick<Database, "pool">) => {
  const sql = sqlOn(pool);
  return {
    /** Stores the callback. Its first delivery also makes the named jobs due. */
    receive: async ({
      source,
      event,
      verifiedBy,
      raw,
      receivedAt,
    }: NewCallback): Promise<{ isNew: boolean }> => {
      const { key, provider, type, statusWord, isKnown, operationIds, hashes } = event;
      const words = [source, key, provider, type, statusWord, verifiedBy];
      const named = isKnown ? await sql.query<{ id: string }>(NAMED, [operationIds, hashes]) : [];
      const rest = [Buffer.from(raw), receivedAt.toISOString(), isKnown, named.map(({ id }) => id)];
      const rows = await sql.query<{ count: number }>(RECEIVE, [...words, ...rest]);
      return { isNew: rows[0]?.count === 1 };
    },
  };
};

export type CallbacksRepository = ReturnType<typeof createCallbacksRepository>;
