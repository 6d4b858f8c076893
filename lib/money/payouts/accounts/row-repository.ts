/** Stores and reads the rows of payouts between accounts, and stores their results. */
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import { base, type Column, int, json, nullable, table, text } from "@/lib/platform/db/table";
import { failureRecord } from "@/lib/contracts/common";
import type { PayoutFailure } from "../payout";
import { recordFailedItems, recordPayoutEvents } from "../project-event-repository";
import type { ItemOutcome, PayoutItemRow } from "./rows";

/**
 * The number of rows in one stored JSON value. A CHECK constraint ensures that the index of the
 * first row of each value is a multiple of this number.
 */
const ROWS_EACH = 1000;

/**
 * Stores the rows of a payout as JSON arrays of a thousand rows each. One large value is written
 * several times faster than a thousand table rows, and rows are only looked up by their index.
 * @param rows each encoded by `encodeRow`
 */
export const insertRows = async (
  db: Sql,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  rows: readonly string[],
): Promise<void> => {
  const parts: Statement[] = [];
  for (let from = 0; from < rows.length; from += ROWS_EACH) {
    const part = `[${rows.slice(from, from + ROWS_EACH).join(",")}]`;
    parts.push(sql`(${projectId}::text, ${id}::text, ${from}::int, ${part}::json)`);
  }
  await db.change(sql`
    INSERT INTO payout_rows (project_id, payout_id, first_index, rows)
    VALUES ${join(parts, ", ")}`);
};

export interface ItemsQuery {
  readonly projectId: string;
  readonly payoutId: string;
  /** Index of the last row of the previous page; -1 for the first page. */
  readonly after: number;
  readonly limit: number;
  /** Only rows in this state. Null: only rows without a stored state. Undefined: all rows. */
  readonly status?: string | null | undefined;
}

const shownItems = table({
  index: int,
  recipientAccountId: text,
  amountBase: base,
  reference: nullable(text),
  // Read without parsing, because a later version of the service may store states that this
  // version does not know.
  status: nullable(text) as Column<PayoutItemRow["status"]>,
  transactionId: nullable(text),
  failure: nullable(json(failureRecord)),
});

export const readItems = (db: SqlReader, query: ItemsQuery): Promise<PayoutItemRow[]> => {
  const { projectId, payoutId, after, limit, status } = query;
  // Without a filter on states, the rows of a page have consecutive indexes, so stored values after
  // the page need not be read.
  const isWanted =
    status === undefined
      ? sql`part.first_index <= ${after}::int + ${limit}::int`
      : sql`ended.status IS NOT DISTINCT FROM ${status}::text`;
  return shownItems.all(
    db,
    sql`
      SELECT ${shownItems.columns("shown")}
      FROM (
        SELECT item.index,
          item.row->>0 AS recipient_account_id,
          (item.row->>1)::numeric AS amount_base,
          item.row->>2 AS reference,
          ended.status, ended.transaction_id, ended.failure
        FROM payout_rows part
        CROSS JOIN LATERAL (
          SELECT part.first_index + number::int - 1 AS index, element AS row
          FROM json_array_elements(part.rows) WITH ORDINALITY AS e (element, number)
        ) item
        LEFT JOIN payout_item ended
          ON ended.project_id = part.project_id
          AND ended.payout_id = part.payout_id
          AND ended.index = item.index
        WHERE part.project_id = ${projectId}
          AND part.payout_id = ${payoutId}
          AND part.first_index > ${after}::int - ${ROWS_EACH}::int
          AND item.index > ${after}::int
          AND ${isWanted}
      ) AS shown
      ORDER BY shown.index
      LIMIT ${limit}::int`,
  );
};

const indexes = table({ index: int });
const outcomes = table({
  index: int,
  status: text,
  transactionId: nullable(text),
  failure: nullable(json(failureRecord)),
});

const sumOf = (items: readonly ItemOutcome[]): bigint =>
  items.reduce((sum, { amountBase }) => sum + amountBase, 0n);

/**
 * Stores the results of rows, adds them to the payout's counters, and writes an event for each row
 * that failed. For posted rows, call it in the ledger's transaction that posts them.
 */
export const settleItems = async (
  db: Sql,
  settled: { projectId: string; payoutId: string; items: readonly ItemOutcome[]; now: Date },
): Promise<void> => {
  const { projectId, payoutId, items, now } = settled;
  // Another instance may post these rows at the same time. The ledger gives both instances one
  // result, and ON CONFLICT lets only the first instance count it.
  const stored = await indexes.all(
    db,
    sql`
      INSERT INTO payout_item (project_id, payout_id, ${outcomes.names})
      SELECT ${projectId}, ${payoutId}, ${outcomes.names}
      FROM ${outcomes.list(items)} AS item
      ORDER BY index
      ON CONFLICT DO NOTHING
      RETURNING index`,
  );
  const isNew = new Set(stored.map(({ index }) => index));
  const first = items.filter(({ index }) => isNew.has(index));
  const completed = first.filter(({ status }) => status === "completed");
  const failed = first.filter(({ status }) => status === "failed");
  await db.change(sql`
    UPDATE payout SET
      updated_at = ${now}::timestamptz,
      items_completed = items_completed + ${completed.length}::int,
      items_failed = items_failed + ${failed.length}::int,
      paid_base = paid_base + ${sumOf(completed)}::numeric,
      failed_base = failed_base + ${sumOf(failed)}::numeric
    WHERE project_id = ${projectId} AND id = ${payoutId}`);
  await recordFailedItems(db, { projectId, payoutId, items: failed, at: now });
};

/**
 * Ends an atomic payout as completed or failed, and writes its event. For a posted payout, call it
 * in the ledger's transaction that posts the payout. Does nothing when the payout has ended
 * already.
 */
export const finishAtomic = async (
  db: Sql,
  end: {
    projectId: string;
    payoutId: string;
    completed: boolean;
    failure: PayoutFailure | null;
    now: Date;
  },
): Promise<void> => {
  const status = end.completed ? "completed" : "failed";
  const failure = end.failure === null ? null : JSON.stringify(end.failure);
  const isPaid = end.completed;
  const ended = await db.change(sql`
    UPDATE payout SET
      status = ${status},
      sub_status = 'full',
      failure = ${failure}::jsonb,
      updated_at = ${end.now}::timestamptz,
      items_completed = CASE WHEN ${isPaid}::boolean THEN items_total ELSE 0 END,
      items_failed = CASE WHEN ${isPaid}::boolean THEN 0 ELSE items_total END,
      paid_base = CASE WHEN ${isPaid}::boolean THEN total_base ELSE 0 END
    WHERE project_id = ${end.projectId} AND id = ${end.payoutId} AND status = 'processing'`);
  if (ended === 0) return;
  await recordPayoutEvents(db, {
    projectId: end.projectId,
    payoutIds: [end.payoutId],
    type: `payout.${status}`,
    at: end.now,
  });
};
