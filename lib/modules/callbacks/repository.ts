import type { Database } from "@/lib/db/client";
import type { Sql } from "@/lib/db/sql";
import type { CallbackEvent, CallbackSource } from "./events";
import type { VerifiedBy } from "./verify";

export interface NewCallback {
  readonly source: CallbackSource;
  readonly event: CallbackEvent;
  readonly verifiedBy: VerifiedBy;
  readonly raw: Uint8Array;
  readonly receivedAt: Date;
}

const INSERT = `
  INSERT INTO callback (source, event_key, provider, type, status_word, verified_by, outcome, body, received_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8::bytea, $9::timestamptz)
  ON CONFLICT (source, event_key) DO UPDATE SET count = callback.count + 1
  RETURNING count`;

// Work that is under way asks the chain by itself; what waits for its time is looked at now.
const WAKE = `
  UPDATE job SET run_at = least(run_at, now())
  WHERE queue IN ('operation', 'payout') AND id IN (
    SELECT o.id FROM operation o WHERE o.id = ANY($1::text[])
    UNION
    SELECT l.operation_id FROM operation_leg l
    WHERE l.source_tx_hash = ANY($2::text[]) OR l.dest_tx_hash = ANY($2::text[]) OR l.refund_tx_hash = ANY($2::text[])
      OR l.user_op_hash = ANY($2::text[])
    UNION
    SELECT b.payout_id FROM wallet_payout_batch b WHERE b.user_op_hash = ANY($2::text[]))`;

const SET_OUTCOME = "UPDATE callback SET outcome = $3 WHERE source = $1 AND event_key = $2";

const insert = async (sql: Sql, { source, event, verifiedBy, raw, receivedAt }: NewCallback): Promise<number> => {
  const outcome = event.isKnown ? "unmatched" : "unknown";
  const { key, provider, type, statusWord } = event;
  const words = [source, key, provider, type, statusWord, verifiedBy, outcome];
  const rows = await sql.query<{ count: number }>(INSERT, [...words, Buffer.from(raw), receivedAt.toISOString()]);
  return rows[0]?.count ?? 0;
};

export const createCallbacksRepository = (database: Database) => ({
  /** Stores the callback, and the first time makes due what it names; both or neither. */
  receive: (callback: NewCallback): Promise<{ isNew: boolean; woken: number }> =>
    database.rawTransaction(async (sql) => {
      const isNew = (await insert(sql, callback)) === 1;
      const { event, source } = callback;
      const names = event.operationIds.length + event.hashes.length;
      if (!isNew || !event.isKnown || names === 0) return { isNew, woken: 0 };
      const woken = await sql.change(WAKE, [event.operationIds, event.hashes]);
      if (woken > 0) await sql.change(SET_OUTCOME, [source, event.key, "woke"]);
      return { isNew, woken };
    }),
});

export type CallbacksRepository = ReturnType<typeof createCallbacksRepository>;
