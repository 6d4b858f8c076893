/** Stores and reads the rows of payouts between accounts, and stores their results. */
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { PayoutFailure } from "../payout";
import { recordFailedItems, recordPayoutEvents } from "../project-event-repository";
import { readFailure } from "../readable";
import type { ItemOutcome, PayoutItemRow } from "./rows";

/**
 * The number of rows in one stored JSON value. A CHECK constraint ensures that each value begins at
 * a multiple of this number.
 */
const ROWS_EACH = 1000;

/**
 * Stores the rows of a payout as JSON arrays of a thousand rows each. One large value is written
 * several times faster than a thousand table rows, and rows are only looked up by their index.
 * @param rows each encoded by `encodeRow`
 */
export const insertRows = async (
  sql: Sql,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  rows: readonly string[],
): Promise<void> => {
  const values: unknown[] = [projectId, id];
  const parts: string[] = [];
  for (let from = 0; from < rows.length; from += ROWS_EACH) {
    const place = values.push(`[${rows.slice(from, from + ROWS_EACH).join(",")}]`);
    parts.push(`($1, $2, ${String(from)}, $${String(place)}::json)`);
  }
  const text = `INSERT INTO payout_rows (project_id, payout_id, first_index, rows) VALUES ${parts.join(", ")}`;
  await sql.change(text, values);
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

// Without a filter on states, the rows of a page have consecutive indexes, so stored values after
// the page need not be read.
const READ_ITEMS = `
  SELECT item.index, item.row->>0 AS recipient, item.row->>1 AS amount, item.row->>2 AS reference,
    ended.status, ended.transaction_id, ended.failure
  FROM payout_rows part
  CROSS JOIN LATERAL (
    SELECT part.first_index + number::int - 1 AS index, element AS row
    FROM json_array_elements(part.rows) WITH ORDINALITY AS e (element, number)
  ) item
  LEFT JOIN payout_item ended ON ended.project_id = part.project_id AND ended.payout_id = part.payout_id AND ended.index = item.index
  WHERE part.project_id = $1 AND part.payout_id = $2 AND part.first_index > $3::int - ${String(ROWS_EACH)} AND item.index > $3
    AND CASE WHEN $5 THEN ended.status IS NOT DISTINCT FROM $6 ELSE part.first_index <= $3::int + $4::int END
  ORDER BY item.index LIMIT $4`;

interface StoredItem {
  readonly index: number;
  readonly recipient: string;
  readonly amount: string;
  readonly reference: string | null;
  readonly status: PayoutItemRow["status"];
  readonly transaction_id: string | null;
  /** JSON of a `PayoutFailure`, or null. */
  readonly failure: unknown;
}

/** Reads a page of rows, in the order of their indexes. */
export const readItems = async (sql: SqlReader, query: ItemsQuery): Promise<PayoutItemRow[]> => {
  const { projectId, payoutId, after, limit, status } = query;
  const values = [projectId, payoutId, after, limit, status !== undefined, status ?? null];
  const rows = await sql.query<StoredItem>(READ_ITEMS, values);
  return rows.map((row) => ({
    index: row.index,
    recipientAccountId: row.recipient,
    amountBase: BigInt(row.amount),
    reference: row.reference,
    status: row.status,
    transactionId: row.transaction_id,
    failure: readFailure(row.failure),
  }));
};

// Another instance may post the same rows at the same time. The ledger gives both instances the
// same result, and ON CONFLICT lets only the first one count it.
const SETTLE_ITEMS = `
  INSERT INTO payout_item (project_id, payout_id, index, status, transaction_id, failure)
  SELECT $1, $2, index, status, transaction_id, failure
  FROM unnest($3::int[], $4::text[], $5::text[], $6::jsonb[]) AS item (index, status, transaction_id, failure) ORDER BY index
  ON CONFLICT DO NOTHING RETURNING index`;

const COUNT_ITEMS = `
  UPDATE payout SET updated_at = $3, items_completed = items_completed + $4::int, items_failed = items_failed + $5::int,
    paid_base = paid_base + $6::numeric, failed_base = failed_base + $7::numeric
  WHERE project_id = $1 AND id = $2`;

const sumOf = (items: readonly ItemOutcome[]): string =>
  items.reduce((sum, { amountBase }) => sum + amountBase, 0n).toString();

/**
 * Stores the results of rows and adds them to the payout's counters. Results of posted rows are
 * stored in the transaction of the ledger that posts them.
 */
export const settleItems = async (
  sql: Sql,
  settled: { projectId: string; payoutId: string; items: readonly ItemOutcome[]; now: Date },
): Promise<void> => {
  const { projectId, payoutId, items, now } = settled;
  const rows = await sql.query<{ index: number }>(SETTLE_ITEMS, [
    projectId,
    payoutId,
    items.map(({ index }) => index),
    items.map(({ status }) => status),
    items.map(({ transactionId }) => transactionId),
    items.map(({ failure }) => (failure === null ? null : JSON.stringify(failure))),
  ]);
  const isNew = new Set(rows.map(({ index }) => index));
  const first = items.filter(({ index }) => isNew.has(index));
  const completed = first.filter(({ status }) => status === "completed");
  const failed = first.filter(({ status }) => status === "failed");
  const counts = [completed.length, failed.length, sumOf(completed), sumOf(failed)];
  await sql.change(COUNT_ITEMS, [projectId, payoutId, now, ...counts]);
  await recordFailedItems(sql, { projectId, payoutId, items: failed, at: now });
};

const FINISH_ATOMIC = `
  UPDATE payout SET status = $4, sub_status = 'full', failure = $5::jsonb, updated_at = $3,
    items_completed = CASE WHEN $4 = 'completed' THEN items_total ELSE 0 END,
    items_failed = CASE WHEN $4 = 'completed' THEN 0 ELSE items_total END,
    paid_base = CASE WHEN $4 = 'completed' THEN total_base ELSE 0 END
  WHERE project_id = $1 AND id = $2 AND status = 'processing'`;

/**
 * Ends an atomic payout. The result of a posted payout is stored in the transaction of the ledger
 * that posts it. Does nothing when the payout has ended already.
 */
export const finishAtomic = async (
  sql: Sql,
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
  if (
    (await sql.change(FINISH_ATOMIC, [end.projectId, end.payoutId, end.now, status, failure])) === 0
  )
    return;
  await recordPayoutEvents(sql, {
    projectId: end.projectId,
    payoutIds: [end.payoutId],
    type: `payout.${status}`,
    at: end.now,
  });
};
