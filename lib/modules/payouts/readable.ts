/**
 * Payouts that another version of the service stored, as far as this version can read them. They are shown, and hide no other payout;
 * nothing can be asked of them. The runner reads payouts with `parsePayout` alone.
 */
import { zeroAddress } from "viem";
import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import { PAYOUT_KINDS, PAYOUT_MODES, payoutWarning } from "@/lib/contracts/payout-records";
import { STATUSES, SUB_STATUS_OF, SUB_STATUSES } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { storedBase, storedToken } from "@/lib/ports/routing-json";
import { MADE_LATER } from "./errors";
import { parsePayout, type Payout, type PayoutColumns, type PayoutFailure } from "./payout";
import { parseWalletPayout, type WalletPayout, type WalletPayoutColumns } from "./wallets/wallet-payout";

/** In place of the failure of something that this version cannot read. */
export const NOT_READABLE: PayoutFailure = { code: "not_readable", message: MADE_LATER, retryable: false };

/** The next action of a payout that this version cannot read as a whole. */
export const UNREAD_ACTION =
  "Update every instance to the newest version. This version cannot read all of this payout, so nothing can be asked of it here; do not pay its rows again.";

export interface ReadLog {
  warn(fields: object, message: string): void;
}

/** As many ids as are kept, so that each is logged once. */
const NOTED_MAX = 10_000;

/** Logs each payout once that cannot be read as a whole. */
export const createUnreadNotes = (log: ReadLog): ((payoutId: string, error: unknown) => void) => {
  const noted = new Set<string>();
  return (payoutId, err) => {
    if (noted.has(payoutId)) return;
    if (noted.size >= NOTED_MAX) noted.clear();
    noted.add(payoutId);
    log.warn({ payoutId, err }, "another version stored a payout, and this version cannot read all of it");
  };
};

export type NoteUnread = ReturnType<typeof createUnreadNotes>;

const storedFailure = failureRecord.nullable().catch(NOT_READABLE);

/** A stored failure as it is shown. */
export const readFailure = (failure: unknown): PayoutFailure | null => storedFailure.parse(failure);

const knownStatus = z.enum(STATUSES);
const knownSubStatus = z.enum(SUB_STATUSES);

const parseWhole = (row: PayoutColumns): Payout => {
  knownStatus.parse(row.status);
  knownSubStatus.parse(row.subStatus);
  return parsePayout(row);
};

/** The row with every column in a form that `parsePayout` reads. */
const readableColumns = (row: PayoutColumns): PayoutColumns => {
  const status = knownStatus.catch("processing").parse(row.status);
  const hasAccount = row.sourceAccountId !== null && row.currency !== null;
  const kind = z
    .enum(PAYOUT_KINDS)
    .catch(hasAccount ? "global_accounts" : "wallets")
    .parse(row.kind);
  return {
    ...row,
    ...{ status, kind },
    subStatus: knownSubStatus.catch(SUB_STATUS_OF[status]).parse(row.subStatus),
    mode: kind === "wallets" ? "independent" : z.enum(PAYOUT_MODES).catch("independent").parse(row.mode),
    sourceAccountId: kind === "wallets" && !hasAccount ? null : row.sourceAccountId,
    currency: kind === "wallets" && !hasAccount ? null : row.currency,
    failure: readFailure(row.failure) ?? NOT_READABLE,
  };
};

/** @returns null when too little can be read to show it */
export const readPayout = (row: PayoutColumns, note: NoteUnread): Payout | null => {
  try {
    return parseWhole(row);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    note(row.id, error);
  }
  try {
    return { ...parsePayout(readableColumns(row)), unread: true };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return null;
  }
};

/** In place of a token that cannot be read. Its amounts are in base units. */
export const unknownToken = (chainId: number): Token => ({
  symbol: "UNKNOWN",
  name: "A token that this version cannot read",
  chainId,
  address: zeroAddress,
  decimals: 0,
  assetId: "unknown",
  usdPegged: false,
});

const storedTotal = z.object({ token: storedToken, amountBase: storedBase, rows: z.int() });
const looseList = z.array(z.unknown()).catch([]);

/** The elements that have a form that this version knows. */
const known = (schema: z.ZodType, list: unknown): unknown[] =>
  looseList.parse(list).filter((each) => schema.safeParse(each).success);

/** As `readPayout`, for the part of a payout that only payouts to wallets have. */
export const readWalletPayout = (row: WalletPayoutColumns, note: NoteUnread): WalletPayout | null => {
  try {
    return parseWalletPayout(row);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    note(row.payoutId, error);
  }
  const columns = {
    totals: known(storedTotal, row.totals),
    warnings: known(payoutWarning, row.warnings),
    feePaidBy: z.enum(["sponsor", "wallet"]).catch("wallet").parse(row.feePaidBy),
    ...{ fundFrom: null, funding: null, gasWaits: null },
  };
  try {
    return { ...parseWalletPayout({ ...row, ...columns }), unread: true };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return null;
  }
};
