import { z } from "zod";
import { depositStates, screeningStates } from "@/lib/contracts/deposit-records";
import {
  address,
  base,
  bool,
  count,
  int,
  int8,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";

/**
 * `unclear`: may be part of an operation in progress. `own`: was part of an operation. `dust`: too
 * small to be shown individually (apply.ts). Deposits in these states have no operation and no
 * event.
 */
const storedState = z.enum([...depositStates, "unclear", "own", "dust"]);

const SEEN = {
  projectId: text,
  /** Id of the deposit, which is also the id of its operation. */
  id: text,
  chainId: int,
  /**
   * Null for coins of an unknown sender, because on most chains no log records a transfer of coins.
   */
  txHash: nullable(text),
  logIndex: nullable(int),
  blockNumber: int8,
  walletId: text,
  walletAddress: address,
  /** Lower-case token address, or `native`. */
  token: text,
  /** Null when the sender is unknown. */
  sender: nullable(address),
  amountBase: base,
  /**
   * Value in millionths of a US dollar; null when it was not computed or no price was available.
   */
  usdMicro: nullable(base),
  state: oneOf(storedState),
  /** Whether the deposit's amount is part of the quarantine's hold. */
  isHeld: bool,
  /** The screening verdict about the sender; null when no screening source was queried. */
  verdict: nullable(oneOf(z.enum(screeningStates))),
  verdictSource: nullable(text),
  listVersion: nullable(text),
  screenedAt: nullable(time),
  detectedAt: time,
};

/** Table `deposit`: a transfer into a wallet. */
export const deposits = table({
  ...SEEN,
  decidedBy: nullable(text),
  decidedReason: nullable(text),
  decidedAt: nullable(time),
  updatedAt: time,
});

export type Deposit = RowOf<typeof deposits>;

export const newDeposits = table({
  ...SEEN,
  screeningId: nullable(text),
  /** When the sender is screened again; null for never. */
  againAt: nullable(time),
});

/** A new state, set by compare-and-set. */
export const depositChanges = table({
  projectId: text,
  id: text,
  fromState: oneOf(storedState),
  state: oneOf(storedState),
  isHeld: bool,
  /** Null: the column is not changed. */
  usdMicro: nullable(base),
  verdict: SEEN.verdict,
  verdictSource: nullable(text),
  listVersion: nullable(text),
  screenedAt: nullable(time),
  /** Null: the column is not changed. */
  screeningId: nullable(text),
  againAt: nullable(time),
});

/** The sum of a wallet's deposits of one token that are too small to be shown one by one. */
export const dustSums = table({
  walletId: text,
  walletAddress: address,
  chainId: int,
  /** Lower-case token address, or `native`. */
  token: text,
  count,
  totalBase: base,
  lastAt: time,
});

export type DustSum = RowOf<typeof dustSums>;

/** Table `deposit_scan`: how far a chain was searched. */
export const cursors = table({
  /** The newest final block that was searched. */
  finalNumber: int8,
  /** The newest block that was searched, and its hash. */
  seenNumber: int8,
  seenHash: text,
  /** The final block at which all coin balances were last compared. */
  nativeNumber: int8,
  /**
   * When the search began. A wallet that was created later had no coins before, so all its coins
   * are deposits.
   */
  startedAt: time,
});

/** Table `deposit_coins`: the coin balances of wallets at their last comparisons. */
export const coinBalances = table({
  projectId: text,
  walletId: text,
  walletAddress: address,
  balanceBase: base,
  blockNumber: int8,
  isDeferred: bool,
});

export type Coins = RowOf<typeof coinBalances>;
