import { createHash } from "node:crypto";
import type { Asset, Assets } from "@/lib/chains/assets";
import { DomainError, isDomainError, type ErrorDetail } from "@/lib/core/errors";
import { parseAmount } from "@/lib/core/money";
import type { AccountRecord, UnfitRecipient } from "@/lib/modules/ledger/service";
import { toLedgerUnits } from "@/lib/modules/reserves/service";
import { encodeRow, type NewItem } from "./rows";

export interface PayoutRowInput {
  readonly recipientAccountId: string;
  /** Decimal, in units of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly reference?: string | undefined;
}

type Fault = Omit<ErrorDetail, "path"> & { field: string };

/** The rows of a request, read in one asset. All lists are in the order of the rows. */
export interface ReadRows {
  readonly asset: Asset;
  /** Amounts in ledger units; 0 where the amount is at fault. */
  readonly items: readonly NewItem[];
  /** Each item encoded by `encodeRow`. */
  readonly rows: readonly string[];
  /** By the index of the row: what is wrong with the amount. */
  readonly amountFaults: ReadonlyMap<number, Fault>;
}

interface RowsInput {
  readonly read: ReadRows;
  readonly source: AccountRecord;
  /** The recipients that cannot be paid, with the reason. */
  readonly unfit: ReadonlyMap<string, UnfitRecipient>;
  readonly assets: Assets;
}

const UNFIT: Readonly<Record<UnfitRecipient, Omit<Fault, "field">>> = {
  missing: { message: "There is no such account.", code: "not_found" },
  currency: { message: "This account is in another currency.", code: "invalid_request" },
  frozen: { message: "This account is frozen or closed.", code: "invalid_state" },
};

const recipientFault = ({ recipientAccountId }: PayoutRowInput, { source, unfit }: RowsInput): Fault | null => {
  const field = "recipientAccountId";
  if (recipientAccountId === source.id)
    return { field, message: "This is the account that pays.", code: "invalid_request" };
  const fault = unfit.get(recipientAccountId);
  return fault === undefined ? null : { field, ...UNFIT[fault] };
};

const isNamed = ({ assetId, symbol }: Asset, currency: string): boolean => {
  const ref = currency.toLowerCase();
  return ref === assetId || ref === symbol.toLowerCase();
};

const currencyFault = (currency: string, { read: { asset }, assets }: RowsInput): Fault | null => {
  if (isNamed(asset, currency)) return null;
  return assets.list().some((known) => isNamed(known, currency))
    ? { field: "currency", message: `The paying account is in ${asset.symbol}.`, code: "invalid_request" }
    : { field: "currency", message: "This is not an asset of the project.", code: "unsupported_token" };
};

const amountOf = (row: PayoutRowInput, asset: Asset): bigint | Fault => {
  try {
    return toLedgerUnits(asset, parseAmount(row.amount, asset.decimals));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { field: "amount", message: error.message, code: error.code };
  }
};

/** Reads all rows. Throws nothing: a wrong amount becomes a fault. */
export const readRows = (transfers: readonly PayoutRowInput[], asset: Asset): ReadRows => {
  const amountFaults = new Map<number, Fault>();
  const items = transfers.map((row, index): NewItem => {
    const amount = amountOf(row, asset);
    if (typeof amount !== "bigint") amountFaults.set(index, amount);
    const amountBase = typeof amount === "bigint" ? amount : 0n;
    return { recipientAccountId: row.recipientAccountId, amountBase, reference: row.reference ?? null };
  });
  return { asset, items, amountFaults, rows: items.map(encodeRow) };
};

/** The result of `readRows` in the asset that the first row names, which is nearly always the asset of all rows; null where it names none. */
export const readRowsEarly = (transfers: readonly PayoutRowInput[], assets: Assets): ReadRows | null => {
  const currency = transfers[0]?.currency ?? "";
  const asset = assets.list().find((known) => isNamed(known, currency));
  return asset === undefined ? null : readRows(transfers, asset);
};

/**
 * Checks that all rows can be paid.
 * @throws DomainError `invalid_request` with a detail for every field of every row that is at fault
 */
export const requirePayable = (transfers: readonly PayoutRowInput[], input: RowsInput): void => {
  const { amountFaults } = input.read;
  const details: ErrorDetail[] = [];
  const note = (index: number, fault: Fault | null): void => {
    if (fault === null) return;
    const { field, ...rest } = fault;
    details.push({ path: `transfers.${String(index)}.${field}`, ...rest });
  };
  // Nearly all rows name the same currency.
  let currency: string | null = null;
  let wrongCurrency: Fault | null = null;
  for (const [index, row] of transfers.entries()) {
    note(index, recipientFault(row, input));
    if (row.currency !== currency) {
      ({ currency } = row);
      wrongCurrency = currencyFault(currency, input);
    }
    note(index, wrongCurrency);
    note(index, amountFaults.get(index) ?? null);
  }
  if (details.length === 0) return;
  const bad = new Set(details.map(({ path }) => path.split(".")[1])).size;
  const message = `${String(bad)} of ${String(transfers.length)} rows cannot be paid. Nothing was paid.`;
  throw new DomainError("invalid_request", message, { details });
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
