import { createHash } from "node:crypto";
import type { Asset, Assets } from "@/lib/chains/assets";
import { DomainError, isDomainError, type ErrorDetail } from "@/lib/core/errors";
import { isId } from "@/lib/core/ids";
import { parseAmount } from "@/lib/core/money";
import type { AccountRecord, UnfitRecipient } from "@/lib/modules/ledger/service";
import { toLedgerUnits } from "@/lib/modules/reserves/service";
import type { NewItem } from "./rows";

export interface PayoutRowInput {
  readonly recipientAccountId: string;
  /** Decimal, in units of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly reference?: string | undefined;
}

export interface RowsInput {
  /** The result of `readAmounts`. */
  readonly amounts: readonly Amount[];
  readonly source: AccountRecord;
  readonly asset: Asset;
  /** Well-formed recipients that cannot be paid, with the reason. */
  readonly unfit: ReadonlyMap<string, UnfitRecipient>;
  readonly assets: Assets;
}

type Fault = Omit<ErrorDetail, "path"> & { field: string };

/** An amount in ledger units, or the fault of the text. */
export type Amount = bigint | Fault;

const UNFIT: Readonly<Record<UnfitRecipient, Omit<Fault, "field">>> = {
  missing: { message: "There is no such account.", code: "not_found" },
  currency: { message: "This account is in another currency.", code: "invalid_request" },
  frozen: { message: "This account is frozen or closed.", code: "invalid_state" },
};

const recipientFault = ({ recipientAccountId }: PayoutRowInput, { source, unfit }: RowsInput): Fault | null => {
  const field = "recipientAccountId";
  if (recipientAccountId === source.id)
    return { field, message: "This is the account that pays.", code: "invalid_request" };
  const fault = isId("globalAccount", recipientAccountId) ? unfit.get(recipientAccountId) : "missing";
  return fault === undefined ? null : { field, ...UNFIT[fault] };
};

const currencyFault = (row: PayoutRowInput, { asset, assets }: RowsInput): Fault | null => {
  const ref = row.currency.toLowerCase();
  if (ref === asset.assetId || ref === asset.symbol.toLowerCase()) return null;
  const known = assets.list().some(({ assetId, symbol }) => [assetId, symbol.toLowerCase()].includes(ref));
  return known
    ? { field: "currency", message: `The paying account is in ${asset.symbol}.`, code: "invalid_request" }
    : { field: "currency", message: "This is not an asset of the project.", code: "unsupported_token" };
};

const amountOf = (row: PayoutRowInput, asset: Asset): Amount => {
  try {
    return toLedgerUnits(asset, parseAmount(row.amount, asset.decimals));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { field: "amount", message: error.message, code: error.code };
  }
};

/** Reads the amounts of all rows, in their order. Throws nothing: a wrong amount becomes a fault. */
export const readAmounts = (rows: readonly PayoutRowInput[], asset: Asset): readonly Amount[] =>
  rows.map((row) => amountOf(row, asset));

/**
 * Checks all rows and converts their amounts to ledger units.
 * @throws DomainError `invalid_request` with a detail for every field of every row that is at fault
 */
export const checkRows = (rows: readonly PayoutRowInput[], input: RowsInput): NewItem[] => {
  const details: ErrorDetail[] = [];
  const items = rows.map((row, index): NewItem => {
    const amount = input.amounts[index];
    if (amount === undefined) throw new Error("Amounts were read of other rows.");
    const faults = [recipientFault(row, input), currencyFault(row, input), typeof amount === "bigint" ? null : amount];
    for (const fault of faults) {
      if (fault === null) continue;
      const { field, ...rest } = fault;
      details.push({ path: `transfers.${String(index)}.${field}`, ...rest });
    }
    return {
      recipientAccountId: row.recipientAccountId,
      amountBase: typeof amount === "bigint" ? amount : 0n,
      reference: row.reference ?? null,
    };
  });
  if (details.length > 0) {
    const bad = new Set(details.map(({ path }) => path.split(".")[1])).size;
    const message = `${String(bad)} of ${String(rows.length)} rows cannot be paid. Nothing was paid.`;
    throw new DomainError("invalid_request", message, { details });
  }
  return items;
};

/** The rows with amounts in ledger units; null when an amount is invalid. */
export const itemsOf = (rows: readonly PayoutRowInput[], asset: Asset): NewItem[] | null => {
  const items = rows.map((row) => ({
    recipientAccountId: row.recipientAccountId,
    amountBase: amountOf(row, asset),
    reference: row.reference ?? null,
  }));
  const amounts = items.flatMap(({ amountBase, ...rest }) =>
    typeof amountBase === "bigint" ? [{ ...rest, amountBase }] : [],
  );
  return amounts.length === items.length ? amounts : null;
};

/** SHA-256 of everything that a one-time code approves: source, recipients, amounts and mode. `rows` are encoded by `encodeRow`. */
export const payoutDigest = (
  payout: {
    readonly sourceAccountId: string;
    readonly currency: string;
    readonly mode: string;
    readonly reference: string | null;
  },
  rows: readonly string[],
): Uint8Array<ArrayBuffer> => {
  const hash = createHash("sha256");
  hash.update(JSON.stringify([payout.sourceAccountId, payout.currency, payout.mode, payout.reference]));
  hash.update(rows.join(""));
  return new Uint8Array(hash.digest());
};
