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

// The tables of this module.

/**
 * `unclear`: it may be a part of an operation in progress. `own`: it was a part of an operation.
 * `dust`: it is too small to be shown by itself (apply.ts). Deposits in these states have no
 * operation and no event.
 */
const storedState = z.enum([...depositStates, "unclear", "own", "dust"]);

const SEEN = {
  projectId: text,
  /** Id of the deposit, which is also the id of its operation. */
  id: text,
  chainId: int,
  /** Null for coins, whose transfers emit no log. */
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
  /** Worth in millionths of a dollar when it was credited; null when no price was available. */
  usdMicro: nullable(base),
  state: oneOf(storedState),
  /** Whether its amount is part of the quarantine's hold. */
  isHeld: bool,
  /** The screening verdict about the sender; null when no source was asked. */
  verdict: nullable(oneOf(z.enum(screeningStates))),
  verdictSource: nullable(text),
  listVersion: nullable(text),
  screenedAt: nullable(time),
  detectedAt: time,
};

/** Table `deposit`: a transfer into a wallet, as the module works with it. */
export const deposits = table({
  ...SEEN,
  decidedBy: nullable(text),
  decidedReason: nullable(text),
  decidedAt: nullable(time),
  updatedAt: time,
});

export type Deposit = RowOf<typeof deposits>;

/** A deposit as it is stored when it is seen. */
export const newDeposits = table({
  ...SEEN,
  screeningId: nullable(text),
  /** When the sender is screened again; null when it is not. */
  againAt: nullable(time),
});

/** A new state, set by compare-and-set. */
export const depositChanges = table({
  projectId: text,
  id: text,
  fromState: oneOf(storedState),
  state: oneOf(storedState),
  isHeld: bool,
  /** Null: it stays. */
  usdMicro: nullable(base),
  verdict: SEEN.verdict,
  verdictSource: nullable(text),
  listVersion: nullable(text),
  screenedAt: nullable(time),
  /** Null: it stays. */
  screeningId: nullable(text),
  againAt: nullable(time),
});

/** The sum of one token that came into a wallet in amounts too small to be shown one by one. */
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
   * When the search began. A wallet made later had no coins before, so all its coins are deposits.
   */
  startedAt: time,
});

/** The coin balances of wallets at their last comparisons. Table `deposit_coins`. */
export const coinBalances = table({
  projectId: text,
  walletId: text,
  walletAddress: address,
  balanceBase: base,
  blockNumber: int8,
  isDeferred: bool,
});

/** The coin balance of a wallet at its last comparison. */
export type Coins = RowOf<typeof coinBalances>;
