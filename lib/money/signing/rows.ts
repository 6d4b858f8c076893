import {
  arrayOf,
  address,
  bool,
  int,
  int8,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "@/lib/platform/db/table";
import { storedHex } from "@/lib/platform/db/codecs";
import { type Payment, storedPayments } from "./state";

// The tables of this module, and the columns that it reads of other tables.

/** A smart account whose key the service holds, or which a linked wallet owns. */
export const knownAccounts = table({ projectId: text, address });

/** A leg that has not ended, or has changed recently. */
export const knownLegs = table({
  id: text,
  operationId: text,
  state: text,
  operationStatus: text,
});

export type KnownLeg = RowOf<typeof knownLegs>;

/** A batch of a payout to wallets that has not ended, or has changed recently. */
export const knownBatches = table({
  projectId: text,
  payoutId: text,
  number: int,
  attempt: int,
  state: text,
});

export type KnownBatch = RowOf<typeof knownBatches>;

/** One of the service's own transactions that is not final. */
export const openTransactions = table({
  id: text,
  from: address,
  nonce: int8,
  to: address,
  data: text,
  /** In wei, as decimal text. */
  value: text,
  hashes: arrayOf(text),
});

export type OpenTransaction = RowOf<typeof openTransactions>;

/** Table `unknown_move`: a movement that a chain shows and no row of the database explains. */
export const unknownMoves = table({
  chainId: int,
  /** Hash of the user operation, or of the service's own transaction. */
  hash: text,
  txHash: text,
  blockNumber: int8,
  /** Null when no wallet in the database sent it. */
  projectId: nullable(text),
  walletAddress: nullable(text),
  payments: json<readonly Payment[]>(storedPayments),
  /**
   * Call data and logs in lower-case hex, which contain every address that the movement may have
   * paid.
   */
  payload: text,
});

export type UnknownMove = RowOf<typeof unknownMoves>;

/** Hash of an accepted transaction. */
export const lostTransactions = table({ hash: oneOf(storedHex) });

/** A payment by a movement that the database lost. A person has accepted the movement. */
export const lostPayments = table({
  recipient: text,
  chainId: int,
  hash: text,
  payments: json<readonly Payment[]>(storedPayments),
});

/**
 * Table `signing_state` as it is read, with the current database. When nothing is stored, every
 * column of the table is null.
 */
export const looks = table({
  /**
   * Identifies the current server, timeline, database and table. Facts that the server hides are
   * `-`.
   */
  present: text,
  /** Null in a new installation. */
  identity: nullable(text),
  seenAt: time,
  offSince: nullable(time),
  offReason: nullable(text),
  isSeenLongAgo: bool,
  hasLostMoves: bool,
});
