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

/** Encodes a row for the database and for the digest of a one-time code: a JSON array of recipient, amount and reference. */
export const encodeRow = ({ recipientAccountId, amountBase, reference }: NewItem): string =>
  JSON.stringify([recipientAccountId, amountBase.toString(), reference]);

/**
 * Encodes rows as `encodeRow` does, and makes their keys as `rowKeyOf` does, in half of the time that both take.
 * @param asset its id
 */
export const encodeRowsWithKeys = (
  items: readonly NewItem[],
  asset: string,
): { readonly rows: readonly string[]; readonly keys: readonly string[] } => {
  const rows: string[] = [];
  const keys: string[] = [];
  const assetText = JSON.stringify(asset);
  for (const { recipientAccountId, amountBase, reference } of items) {
    const recipient = JSON.stringify(recipientAccountId);
    const rest = `"${amountBase.toString()}",${JSON.stringify(reference)}]`;
    rows.push(`[${recipient},${rest}`);
    keys.push(rowKeyOfJson(`[${recipient},${assetText},${rest}`));
  }
  return { rows, keys };
};
