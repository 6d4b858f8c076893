import { failureRecord } from "@/lib/contracts/common";
import type { Sql, SqlReader } from "@/lib/db/sql";
import { recordFailedItems } from "../project-event-repository";
import type { ItemOutcome, PayoutItemRow } from "./rows";

/** Rows in one stored value. A CHECK constraint ensures that each value begins at a multiple of this number. */
const ROWS_EACH = 1000;

/**
 * Encodes rows as JSON arrays of a thousand rows each. A large value is written several times faster than a thousand table rows, and rows
 * are only looked up by their index.
 */
export const encodeRows = (rows: readonly string[]): string => {
  const parts: string[] = [];
  for (let from = 0; from < rows.length; from += ROWS_EACH)
    parts.push(`[${rows.slice(from, from + ROWS_EACH).join(",")}]`);
  return `[${parts.join(",")}]`;
};

/** SQL that inserts the result of `encodeRows`, given as `$parameter`, for each payout of the relation `stored`. */
export const insertRows = (parameter: string): string => `
  INSERT INTO payout_rows (payout_id, first_index, rows)
  SELECT stored.id, (part.number - 1) * ${String(ROWS_EACH)}, part.rows
  FROM stored, json_array_elements(${parameter}::json) WITH ORDINALITY AS part (rows, number)`;

export interface ItemsQuery {
  readonly payoutId: string;
  /** Index of the last row of the previous page; -1 for the first page. */
  readonly after: number;
  readonly limit: number;
  /** Only rows in this state. Null: only rows without a state of their own. Undefined: all rows. */
  readonly status?: string | null | undefined;
}

// Without a condition on states the page is contiguous, so later stored values need not be read.
const READ_ITEMS = `
  SELECT item.index, item.row->>0 AS recipient, item.row->>1 AS amount, item.row->>2 AS reference,
    ended.status, ended.transaction_id, ended.failure
  FROM payout_rows part
  CROSS JOIN LATERAL (
    SELECT part.first_index + number::int - 1 AS index, element AS row
    FROM json_array_elements(part.rows) WITH ORDINALITY AS e (element, number)
  ) item
  LEFT JOIN payout_item ended ON ended.payout_id = part.payout_id AND ended.index = item.index
  WHERE part.payout_id = $1 AND part.first_index > $2::int - ${String(ROWS_EACH)} AND item.index > $2
    AND CASE WHEN $4 THEN ended.status IS NOT DISTINCT FROM $5 ELSE part.first_index <= $2::int + $3::int END
  ORDER BY item.index LIMIT $3`;

interface StoredItem {
  readonly index: number;
  readonly recipient: string;
  readonly amount: string;
  readonly reference: string | null;
  readonly status: PayoutItemRow["status"];
  readonly transaction_id: string | null;
  /** JSON. */
  readonly failure: unknown;
}

const storedFailure = failureRecord.nullable();

/** Reads a page of rows, in their order. */
export const readItems = async (sql: SqlReader, query: ItemsQuery): Promise<PayoutItemRow[]> => {
  const { payoutId, after, limit, status } = query;
  const values = [payoutId, after, limit, status !== undefined, status ?? null];
  const rows = await sql.query<StoredItem>(READ_ITEMS, values);
  return rows.map((row) => ({
    index: row.index,
    recipientAccountId: row.recipient,
    amountBase: BigInt(row.amount),
    reference: row.reference,
    status: row.status,
    transactionId: row.transaction_id,
    failure: storedFailure.parse(row.failure),
  }));
};

// Another instance may have posted the same rows. The ledger gives both the same answer, and only the first one is counted.
const SETTLE_ITEMS = `
  WITH given AS (
    SELECT * FROM unnest($3::int[], $4::numeric[], $5::text[], $6::text[], $7::jsonb[])
      AS item (index, amount, status, transaction_id, failure)
  ), settled AS (
    INSERT INTO payout_item (payout_id, index, status, transaction_id, failure)
    SELECT $1, index, status, transaction_id, failure FROM given ORDER BY index
    ON CONFLICT DO NOTHING RETURNING index
  ), counted AS (
    SELECT count(*) FILTER (WHERE status = 'completed')::int AS completed, count(*) FILTER (WHERE status = 'failed')::int AS failed,
      coalesce(sum(amount) FILTER (WHERE status = 'completed'), 0) AS paid,
      coalesce(sum(amount) FILTER (WHERE status = 'failed'), 0) AS refused
    FROM given JOIN settled USING (index)
  )
  UPDATE payout SET updated_at = $2, items_completed = items_completed + counted.completed,
    items_failed = items_failed + counted.failed, paid_base = paid_base + counted.paid,
    failed_base = failed_base + counted.refused
  FROM counted WHERE id = $1
  RETURNING (SELECT coalesce(array_agg(index), '{}') FROM settled) AS settled`;

/** Stores the states of rows inside the ledger's transaction, together with their postings. */
export const settleItems = async (
  sql: Sql,
  settled: { payoutId: string; items: readonly ItemOutcome[]; now: Date },
): Promise<void> => {
  const { payoutId, items, now } = settled;
  const [row] = await sql.query<{ settled: number[] }>(SETTLE_ITEMS, [
    payoutId,
    now,
    items.map(({ index }) => index),
    items.map(({ amountBase }) => amountBase.toString()),
    items.map(({ status }) => status),
    items.map(({ transactionId }) => transactionId),
    items.map(({ failure }) => (failure === null ? null : JSON.stringify(failure))),
  ]);
  const isNew = new Set(row?.settled ?? []);
  const failed = items.filter(({ index, status }) => status === "failed" && isNew.has(index));
  await recordFailedItems(sql, { payoutId, items: failed, at: now });
};
