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

/** A smart account whose key the service holds, or that a linked wallet owns. */
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

/** A transaction of the service that is not final. */
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

/** Table `unknown_move`: a movement on a chain that no row of the database explains. */
export const unknownMoves = table({
  chainId: int,
  /** Hash of the user operation, or of the service's transaction. */
  hash: text,
  txHash: text,
  blockNumber: int8,
  /** Null when no wallet in the database sent the movement. */
  projectId: nullable(text),
  walletAddress: nullable(text),
  payments: json<readonly Payment[]>(storedPayments),
  /**
   * Call data and logs in lower-case hex. They contain every address that the movement may have
   * paid.
   */
  payload: text,
});

export type UnknownMove = RowOf<typeof unknownMoves>;

export const lostTransactions = table({ hash: oneOf(storedHex) });

/** A payment by a movement that is missing from the database and that a person has accepted. */
export const lostPayments = table({
  recipient: text,
  chainId: int,
  hash: text,
  payments: json<readonly Payment[]>(storedPayments),
});

/**
 * Table `signing_state`, read with the current database. All its columns are null when nothing is
 * stored.
 */
export const looks = table({
  /**
   * Identifies the current server, timeline, database and table. A fact that the server hides is
   * `-`.
   */
  present: text,
  identity: nullable(text),
  seenAt: time,
  offSince: nullable(time),
  offReason: nullable(text),
  isSeenLongAgo: bool,
  hasLostMoves: bool,
});
