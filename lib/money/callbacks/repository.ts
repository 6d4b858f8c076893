import type { Database } from "@/lib/platform/db/client";
import { type SqlReader, sqlOn } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { count, table, text } from "@/lib/platform/db/table";
import type { CallbackEvent, CallbackSource, VerifiedBy } from "./verify";

export interface NewCallback {
  readonly source: CallbackSource;
  readonly event: CallbackEvent;
  readonly verifiedBy: VerifiedBy;
  readonly raw: Uint8Array;
  readonly receivedAt: Date;
}

const ids = table({ id: text });
const counts = table({ count });

/**
 * The ids of the operations and payouts to which a callback refers. The search covers all
 * projects, because a callback names no project.
 */
const namedJobs = async (
  db: SqlReader,
  { operationIds, hashes }: CallbackEvent,
): Promise<string[]> => {
  const named = await ids.all(
    db,
    sql`
      SELECT o.id FROM operation o WHERE o.id = ANY(${operationIds}::text[])
      UNION
      SELECT l.operation_id FROM operation_leg l
      WHERE l.source_tx_hash = ANY(${hashes}::text[])
        OR l.dest_tx_hash = ANY(${hashes}::text[])
        OR l.refund_tx_hash = ANY(${hashes}::text[])
        OR l.user_op_hash = ANY(${hashes}::text[])
      UNION
      SELECT b.payout_id FROM wallet_payout_batch b WHERE b.user_op_hash = ANY(${hashes}::text[])`,
  );
  return named.map(({ id }) => id);
};

export const createCallbacksRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = sqlOn(pool);
  return {
    /**
     * Stores the callback. Its first delivery also makes the jobs of its operations and payouts
     * due, in the same statement, so that a sleeping job runs now. A running job queries the chain
     * anyway.
     */
    receive: async (callback: NewCallback): Promise<{ isNew: boolean }> => {
      const { source, event, verifiedBy, raw, receivedAt } = callback;
      const jobIds = event.isKnown ? await namedJobs(db, event) : [];
      const stored = await counts.first(
        db,
        sql`
          WITH named AS (
            SELECT j.id, j.queue FROM job j
            WHERE ${event.isKnown}::boolean
              AND j.queue IN ('operation', 'payout')
              AND j.id IN (SELECT unnest(${jobIds}::text[]))
          ), stored AS (
            INSERT INTO callback (
              source, event_key, provider, type, status_word, verified_by, outcome, body,
              received_at
            )
            SELECT ${source}, ${event.key}, ${event.provider}, ${event.type}, ${event.statusWord},
              ${verifiedBy},
              CASE
                WHEN NOT ${event.isKnown}::boolean THEN 'unknown'
                WHEN EXISTS (SELECT 1 FROM named) THEN 'woke'
                ELSE 'unmatched'
              END,
              ${Buffer.from(raw)}::bytea,
              ${receivedAt}::timestamptz
            ON CONFLICT (source, event_key) DO UPDATE SET count = callback.count + 1
            RETURNING count
          ), locked AS MATERIALIZED (
            SELECT j.id, j.queue FROM job j JOIN named n ON n.id = j.id AND n.queue = j.queue
            WHERE (SELECT count FROM stored) = 1
            ORDER BY j.id COLLATE "C"
            FOR NO KEY UPDATE OF j
          ), woken AS (
            UPDATE job j SET run_at = least(j.run_at, now())
            FROM locked n
            WHERE j.id = n.id AND j.queue = n.queue
          )
          SELECT ${counts.columns()} FROM stored`,
      );
      return { isNew: stored?.count === 1 };
    },
  };
};

export type CallbacksRepository = ReturnType<typeof createCallbacksRepository>;
