/**
 * Finds repeated payments. A payment that equals another payment of the last 30 days is refused
 * unless the caller allows duplicates.
 */
import { hash } from "node:crypto";
import { DomainError, type ErrorDetail } from "@/lib/core/errors";

const KEY_BYTES = 16;

/**
 * The fields that are equal in duplicate payments. The amount is in base units of a token, or in
 * ledger units of a currency.
 */
export interface RowIdentity {
  readonly recipient: string;
  /** `<chain id>:<token>` for a payment on chain; the asset id for a payment between accounts. */
  readonly asset: string;
  readonly amountBase: bigint;
  readonly reference: string | null;
}

/**
 * The input of a search for duplicates. `keys` has the key of each row of a payout, from
 * `rowKeyOf`, in the order of the rows. `now` is the time from which the search goes back 30 days.
 */
export interface RowKeys {
  readonly keys: readonly string[];
  readonly allowDuplicates: boolean;
  readonly now: Date;
}

export interface DuplicateRow {
  readonly index: number;
  readonly earlier:
    | { readonly payoutId: string; readonly at: Date }
    | { readonly index: number };
}

/**
 * Returns the first 16 bytes (as hex) of the SHA-256 of a JSON array, which has the fields of a
 * payment in the order of `rowKeyOf`.
 */
export const rowKeyOfJson = (fields: string): string =>
  hash("sha256", fields, "hex").slice(0, 2 * KEY_BYTES);

export const rowKeyOf = ({ recipient, asset, amountBase, reference }: RowIdentity): string =>
  rowKeyOfJson(JSON.stringify([recipient, asset, amountBase.toString(), reference]));

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

/** Describes a duplicate for people. The text continues a sentence that begins with the row. */
export const duplicateText = ({ earlier }: DuplicateRow): string =>
  "payoutId" in earlier
    ? `was asked for in ${earlier.payoutId} on ${earlier.at.toISOString().slice(0, 10)}: same recipient, token, amount and reference`
    : `is the same as row ${String(earlier.index)} of this list: same recipient, token, amount and reference`;

/**
 * Throws an error when a payout has duplicate rows.
 * @throws DomainError `duplicate_payout` naming every duplicate
 */
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
