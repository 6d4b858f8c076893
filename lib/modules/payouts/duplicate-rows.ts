/** Finds repeated payments: an equal payment within 30 days is refused unless the caller allows it. */
import { hash } from "node:crypto";
import { DomainError, type ErrorDetail } from "@/lib/core/errors";

const KEY_BYTES = 16;

/** The fields in which duplicate payments are equal. Amount in base units or ledger units. */
export interface RowIdentity {
  readonly recipient: string;
  /** `<chain id>:<token>` or a currency. */
  readonly asset: string;
  readonly amountBase: bigint;
  readonly reference: string | null;
}

/** Keys of a payout's rows, in hex, in their order. */
export interface RowKeys {
  readonly keys: readonly string[];
  readonly allowDuplicates: boolean;
  readonly now: Date;
}

/** A row that repeats a row of another payout, or an earlier row of the same list. */
export interface DuplicateRow {
  readonly index: number;
  readonly earlier: { readonly payoutId: string; readonly at: Date } | { readonly index: number };
}

/** The truncated SHA-256 (hex) of a JSON array of a payment's fields, as `rowKeyOf` makes it. */
export const rowKeyOfJson = (fields: string): string => hash("sha256", fields, "hex").slice(0, 2 * KEY_BYTES);

/** The key of a payment. Equal payments have equal keys. */
export const rowKeyOf = ({ recipient, asset, amountBase, reference }: RowIdentity): string =>
  rowKeyOfJson(JSON.stringify([recipient, asset, amountBase.toString(), reference]));

/** Rows that repeat an earlier row of the same list. */
export const repeatedWithin = (keys: readonly string[]): DuplicateRow[] => {
  const first = new Map<string, number>();
  const repeated: DuplicateRow[] = [];
  for (const [index, key] of keys.entries()) {
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, index);
    else repeated.push({ index, earlier: { index: earlier } });
  }
  return repeated;
};

/** The description of a duplicate for people. */
export const duplicateText = ({ earlier }: DuplicateRow): string =>
  "payoutId" in earlier
    ? `was asked for in ${earlier.payoutId} on ${earlier.at.toISOString().slice(0, 10)}: same recipient, token, amount and reference`
    : `is the same as row ${String(earlier.index)} of this list: same recipient, token, amount and reference`;

/** @throws DomainError `duplicate_payout` naming every duplicate */
export const refuseDuplicates = (duplicates: readonly DuplicateRow[]): void => {
  if (duplicates.length === 0) return;
  const details = duplicates.map((each): ErrorDetail => ({
    path: `transfers.${String(each.index)}`,
    message: duplicateText(each),
    code: "duplicate_payout",
  }));
  const many = duplicates.length === 1 ? "1 row was" : `${String(duplicates.length)} rows were`;
  const message = `${many} asked for before. Nothing was paid. Send the request with allowDuplicates to pay all the same.`;
  throw new DomainError("duplicate_payout", message, { details });
};
