/** Reads and checks requests for payouts between accounts: rows, source account and balance. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Asset, Assets } from "@/lib/chain/assets";
import { DomainError, isDomainError, type ErrorDetail } from "@/lib/core/errors";
import { handledLater } from "@/lib/core/handled-later";
import { formatAmount, parseAmount } from "@/lib/core/money";
import {
  LEDGER_DECIMALS,
  type AccountRecord,
  type UnfitRecipient,
} from "@/lib/books/ledger/service";
import { toLedgerUnits } from "@/lib/books/reserves/service";
import type { PayoutsContext } from "../context";
import { accountsDigest } from "../intent";
import { refuseFaults, requireRows } from "../limits";
import type { AccountsPayout } from "../payout";
import { openPayoutTotals } from "../repository";
import { encodeRow, type NewItem } from "./rows";

export interface PayoutRowInput {
  readonly recipientAccountId: string;
  /** Decimal text in units of the currency, such as `12.50`. */
  readonly amount: string;
  readonly currency: string;
  readonly reference?: string | undefined;
}

export interface AccountsInput {
  readonly kind: "global_accounts";
  readonly sourceAccountId: string;
  readonly transfers: readonly PayoutRowInput[];
  readonly mode: AccountsPayout["mode"];
  readonly reference?: string | undefined;
}

interface PayoutSource {
  readonly source: AccountRecord;
  /**
   * The source's balance minus the amounts that its open payouts will still debit, in ledger units;
   * never below 0.
   */
  readonly availableBase: bigint;
}

/** A checked request: every row can be paid. `rows` and `items` are in the order of the request. */
export interface AccountsRequest
  extends PayoutSource, Pick<ReadRows, "asset" | "items" | "rows"> {
  readonly kind: "global_accounts";
  readonly mode: AccountsPayout["mode"];
  readonly reference: string | null;
  readonly totalBase: bigint;
}

type Fault = Omit<ErrorDetail, "path"> & { field: string };

/** The rows of a request, read in one asset. All lists are in the order of the request. */
interface ReadRows {
  readonly asset: Asset;
  /** The rows with their amounts in ledger units; an invalid amount is 0. */
  readonly items: readonly NewItem[];
  /** Each item, encoded by `encodeRow`. */
  readonly rows: readonly string[];
  /** For each row index with an invalid amount, the fault of the amount. */
  readonly amountFaults: ReadonlyMap<number, Fault>;
}

interface RowsInput {
  readonly read: ReadRows;
  readonly source: AccountRecord;
  /** For each account id that cannot be paid, the reason. */
  readonly unfit: ReadonlyMap<string, UnfitRecipient>;
  readonly assets: Assets;
}

const UNFIT: Readonly<Record<UnfitRecipient, Omit<Fault, "field">>> = {
  missing: { message: "There is no such account.", code: "not_found" },
  currency: { message: "This account is in another currency.", code: "invalid_request" },
  frozen: { message: "This account is frozen or closed.", code: "invalid_state" },
};

const recipientFault = (
  { recipientAccountId }: PayoutRowInput,
  { source, unfit }: RowsInput,
): Fault | null => {
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

const currencyFault = (
  currency: string,
  { read: { asset }, assets }: RowsInput,
): Fault | null => {
  if (isNamed(asset, currency)) return null;
  return assets.list().some((candidate) => isNamed(candidate, currency))
    ? {
        field: "currency",
        message: `The paying account is in ${asset.symbol}.`,
        code: "invalid_request",
      }
    : {
        field: "currency",
        message: "This is not an asset of the project.",
        code: "unsupported_token",
      };
};

const amountOf = (row: PayoutRowInput, asset: Asset): bigint | Fault => {
  try {
    return toLedgerUnits(asset, parseAmount(row.amount, asset.decimals));
  } catch (error) {
    if (!isDomainError(error)) throw error;
    return { field: "amount", message: error.message, code: error.code };
  }
};

/** Reads all rows in one asset. Does not throw: an invalid amount becomes a fault. */
export const readRows = (transfers: readonly PayoutRowInput[], asset: Asset): ReadRows => {
  const amountFaults = new Map<number, Fault>();
  const items = transfers.map((row, index): NewItem => {
    const amount = amountOf(row, asset);
    if (typeof amount !== "bigint") amountFaults.set(index, amount);
    const amountBase = typeof amount === "bigint" ? amount : 0n;
    return {
      recipientAccountId: row.recipientAccountId,
      amountBase,
      reference: row.reference ?? null,
    };
  });
  return { asset, items, amountFaults, rows: items.map(encodeRow) };
};

/**
 * Parses all rows in the asset that the first row names, while the database still reads the source
 * account. The caller uses the result only when the source account is in the same asset, which is
 * nearly always so. Returns null when the first row names no configured asset.
 */
const readRowsEarly = (
  transfers: readonly PayoutRowInput[],
  assets: Assets,
): ReadRows | null => {
  const currency = transfers[0]?.currency ?? "";
  const asset = assets.list().find((candidate) => isNamed(candidate, currency));
  return asset === undefined ? null : readRows(transfers, asset);
};

/**
 * Checks that all rows can be paid.
 * @throws DomainError as `refuseFaults` does, with a detail for every invalid field of every row
 */
const requirePayable = (transfers: readonly PayoutRowInput[], input: RowsInput): void => {
  const { amountFaults } = input.read;
  const details: ErrorDetail[] = [];
  const note = (index: number, fault: Fault | null): void => {
    if (fault === null) return;
    const { field, ...rest } = fault;
    details.push({ path: `transfers.${String(index)}.${field}`, ...rest });
  };
  // Nearly all rows of a payout name one currency, so a currency is checked only when it differs
  // from the currency of the previous row.
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
  refuseFaults(details, transfers.length);
};

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

/**
 * Computes the available balance of a source account.
 * @param open for each account id, the amount that open payouts will still debit, from
 * `openPayoutTotals`; it must be read before the account
 */
const withAvailable = (
  source: AccountRecord,
  open: ReadonlyMap<string, bigint>,
): PayoutSource => {
  const leftBase = source.postedBase - (open.get(source.id) ?? 0n);
  return { source, availableBase: leftBase > 0n ? leftBase : 0n };
};

/**
 * Reads a source account, and the amount that is available to a new payout.
 * @throws DomainError `not_found`
 */
export const readSource = async (
  context: PayoutsContext,
  projectId: string,
  accountId: string,
): Promise<PayoutSource> => {
  const open = await openPayoutTotals(context.reader, projectId, accountId);
  return withAvailable(await context.ledger.account(projectId, accountId), open);
};

/**
 * Returns the error of an atomic payout that exceeds the available balance of its source account;
 * null for any other payout. Two payouts that are created at the same time may both pass this
 * check; the ledger then refuses the payout that it posts last. Rows of independent payouts are
 * refused individually, when they are posted.
 */
export const fundsObstacle = (request: AccountsRequest): DomainError | null => {
  const { source, availableBase, asset, totalBase, mode } = request;
  if (mode === "independent" || availableBase >= totalBase) return null;
  const pendingBase = source.postedBase - availableBase;
  const pending =
    pendingBase === 0n
      ? ""
      : ` Open payouts from it will take ${units(pendingBase)} ${asset.symbol}; cancel one of them, or fund the account.`;
  const message = `The account has ${units(availableBase)} ${asset.symbol} available, ${units(totalBase - availableBase)} less than the payout's total. Nothing was paid.${pending}`;
  return new DomainError("insufficient_balance", message, {
    details: [{ path: "sourceAccountId", message }],
  });
};

/**
 * Reads and checks a request for a payout between accounts.
 * @throws DomainError `invalid_request` (every invalid row by its index), `not_found`,
 * `batch_too_large`
 */
export const readAccountsRequest = async (
  context: PayoutsContext,
  projectId: string,
  { kind, sourceAccountId, transfers, mode, reference }: AccountsInput,
): Promise<AccountsRequest> => {
  requireRows(transfers.length);
  const accountIds = transfers.map(({ recipientAccountId }) => recipientAccountId);
  const reading = handledLater(
    context.database.reading((sql) =>
      sql.together(() =>
        Promise.all([
          openPayoutTotals(sql, projectId, sourceAccountId),
          context.ledger.payer(sql, projectId, { sourceId: sourceAccountId, accountIds }),
        ]),
      ),
    ),
  );
  // The rows are parsed while the database works. The event loop first gets a turn, so that the
  // statements are sent before the parsing begins.
  await nextTurn();
  const early = readRowsEarly(transfers, context.assets);
  const [open, { source, unfit }] = await reading;
  const asset = context.assets.resolve(source.currency, "sourceAccountId");
  const read = early?.asset === asset ? early : readRows(transfers, asset);
  requirePayable(transfers, { read, source, unfit, assets: context.assets });
  const { items, rows } = read;
  return {
    ...withAvailable(source, open),
    kind,
    mode,
    reference: reference ?? null,
    asset,
    items,
    rows,
    totalBase: items.reduce((sum, { amountBase }) => sum + amountBase, 0n),
  };
};

/**
 * Computes the digest of a request in the currency of an earlier payout, so that the two can be
 * compared. Does not read accounts or balances, which may have changed since. Null when a row
 * cannot be read in that currency.
 */
export const repeatedDigest = (
  assets: Assets,
  { currency }: Pick<AccountsPayout, "currency">,
  { sourceAccountId, transfers, mode, reference }: AccountsInput,
): Uint8Array<ArrayBuffer> | null => {
  const asset = assets.find(currency);
  const read = asset === null ? null : readRows(transfers, asset);
  if (read === null || read.amountFaults.size > 0) return null;
  const named = { sourceAccountId, currency, mode, reference: reference ?? null };
  return accountsDigest(named, read.rows);
};
