/**
 * Reads payouts that another version of the service stored, as far as this version can read them.
 * Lists show such payouts beside all others, and nobody can change them here. The workers use only
 * `parsePayout`, which refuses them.
 */
import { zeroAddress } from "viem";
import { z } from "zod";
import { failureRecord } from "@/lib/contracts/common";
import { PAYOUT_KINDS, PAYOUT_MODES, payoutWarning } from "@/lib/contracts/payout-records";
import { STATUSES, SUB_STATUS_OF, SUB_STATUSES } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { storedBase, storedToken } from "@/lib/platform/db/codecs";
import { type Column, json, nullable } from "@/lib/platform/db/table";
import { MADE_LATER } from "./errors";
import { parsePayout, type Payout, type PayoutColumns, type PayoutFailure } from "./payout";
import {
  parseWalletPayout,
  type WalletPayout,
  type WalletPayoutColumns,
} from "./wallets/wallet-payout";

/** The failure that is shown when this version cannot read the stored failure, or the payout. */
export const NOT_READABLE: PayoutFailure = {
  code: "not_readable",
  message: MADE_LATER,
  retryable: false,
};

/** Shown as the progress of a payout that this version cannot read completely. */
export const UNREAD_SENTENCE =
  "Another version of the service stored this payout, and this version cannot read all of it.";

/** Shown as the next action of a payout that this version cannot read completely. */
export const UNREAD_ACTION =
  "Update every instance to the newest version. This version cannot read all of this payout, so nothing can be asked of it here; do not pay its rows again.";

export interface ReadLog {
  warn(fields: object, message: string): void;
}

/**
 * The number of remembered payout ids at which all of them are forgotten, which bounds the memory.
 */
const NOTED_MAX = 10_000;

/** Returns a function that logs each payout which cannot be read completely, once. */
export const createUnreadNotes = (log: ReadLog): ((payoutId: string, error: unknown) => void) => {
  const noted = new Set<string>();
  return (payoutId, err) => {
    if (noted.has(payoutId)) return;
    if (noted.size >= NOTED_MAX) noted.clear();
    noted.add(payoutId);
    log.warn(
      { payoutId, err },
      "another version stored a payout, and this version cannot read all of it",
    );
  };
};

export type NoteUnread = ReturnType<typeof createUnreadNotes>;

const storedFailure = failureRecord.nullable().catch(NOT_READABLE);

/**
 * Parses a stored failure for display. Returns `NOT_READABLE` for a failure that this version
 * cannot read.
 */
export const readFailure = (failure: unknown): PayoutFailure | null => storedFailure.parse(failure);

/** A column with a failure, read for display. */
export const shownFailure: Column<PayoutFailure | null> = {
  ...nullable(json(failureRecord)),
  read: readFailure,
};

const knownStatus = z.enum(STATUSES);
const knownSubStatus = z.enum(SUB_STATUSES);

const parseWhole = (row: PayoutColumns): Payout => {
  knownStatus.parse(row.status);
  knownSubStatus.parse(row.subStatus);
  return parsePayout(row);
};

/** Replaces the column values that `parsePayout` would refuse, so that the rest can be shown. */
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
    mode:
      kind === "wallets"
        ? "independent"
        : z.enum(PAYOUT_MODES).catch("independent").parse(row.mode),
    sourceAccountId: kind === "wallets" && !hasAccount ? null : row.sourceAccountId,
    currency: kind === "wallets" && !hasAccount ? null : row.currency,
    failure: readFailure(row.failure) ?? NOT_READABLE,
  };
};

/**
 * Reads a payout for display.
 * @returns null when too little of the row can be read to show the payout
 */
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

/**
 * Returns a placeholder for a token that cannot be read. It has 0 decimals, so amounts are shown in
 * base units.
 */
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

/**
 * Returns the elements of a list that match the schema, and leaves out those of another version.
 */
const known = (schema: z.ZodType, list: unknown): unknown[] =>
  looseList.parse(list).filter((each) => schema.safeParse(each).success);

/**
 * Reads for display the part of a payout that only payouts to wallets have.
 * @returns null when too little of the row can be read to show the payout
 */
export const readWalletPayout = (
  row: WalletPayoutColumns,
  note: NoteUnread,
): WalletPayout | null => {
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
