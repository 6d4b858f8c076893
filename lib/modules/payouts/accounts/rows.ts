import { rowKeyOfJson } from "../duplicate-rows";
import type { PayoutFailure } from "../payout";

/** A row of the request. */
export interface NewItem {
  readonly recipientAccountId: string;
  /** Ledger units. */
  readonly amountBase: bigint;
  readonly reference: string | null;
}

/** A row with its own final state. `status` null: the state of the payout applies. */
export interface PayoutItemRow extends NewItem {
  readonly index: number;
  readonly status: "completed" | "failed" | null;
  readonly transactionId: string | null;
  readonly failure: PayoutFailure | null;
}

export interface ItemOutcome {
  readonly index: number;
  /** Ledger units. */
  readonly amountBase: bigint;
  readonly status: "completed" | "failed";
  readonly transactionId: string | null;
  readonly failure: PayoutFailure | null;
}

// Neither control characters, quotes, backslashes nor surrogates.
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** As `JSON.stringify`, in half of the time for a text in which nothing is escaped. */
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** Encodes a row for the database and for the digest of a one-time code: a JSON array of recipient, amount and reference. */
export const encodeRow = ({ recipientAccountId, amountBase, reference }: NewItem): string =>
  `[${quoted(recipientAccountId)},"${amountBase.toString()}",${reference === null ? "null" : quoted(reference)}]`;

/**
 * The keys of rows, as `rowKeyOf` makes them, from parts of the encoded rows.
 * @param asset its id
 * @param rows the items, each encoded by `encodeRow`
 */
export const rowKeysOf = (asset: string, items: readonly NewItem[], rows: readonly string[]): string[] => {
  const assetText = JSON.stringify(asset);
  return items.map(({ recipientAccountId }, index) => {
    const row = rows[index] ?? "";
    const recipientEnd = 1 + quoted(recipientAccountId).length;
    return rowKeyOfJson(`${row.slice(0, recipientEnd)},${assetText}${row.slice(recipientEnd)}`);
  });
};
