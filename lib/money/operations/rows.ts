import { z } from "zod";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import { balanceChange } from "@/lib/contracts/quote-records";
import { type Status, STATUSES, SUB_STATUSES, type SubStatus } from "@/lib/core/status";
import { storedUserOperation } from "@/lib/chain/erc4337/stored";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { type SignedPermit, storedSignedPermit } from "@/lib/chain/smart-accounts/service";
import type { RouteRequest } from "@/lib/core/route-request";
import type { EvmAddress } from "@/lib/core/evm";
import type { Token } from "@/lib/core/token";
import { storedAddress, storedBase, storedHex, storedToken } from "@/lib/platform/db/codecs";
import { type StoredNumeric, toBigInt } from "@/lib/platform/db/decimal";
import {
  base,
  type Column,
  int,
  int8,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
  arrayOf,
} from "@/lib/platform/db/table";
import type { RouteLeg } from "@/lib/money/ports/routing";
import { storedRouteLeg, storedRouteRequest } from "@/lib/money/ports/routing-json";
import { storedGasWaits } from "./gas-wait";
import { storedRefundAttention } from "./refund-attention";

// The tables of this module. Prisma reads some of the rows too. It returns NUMERIC as a Decimal,
// which the column type `numeric` parses too.

type Hex = `0x${string}`;

export interface Failure {
  readonly code: string;
  readonly message: string;
  /** False when the money may have moved despite the failure. */
  readonly retryable: boolean;
}

/**
 * Column `failure` of a leg or an operation. A stored failure without `retryable` may be retried.
 */
export const storedFailure: z.ZodType<Failure> = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean().default(true),
});

const walletTransaction = z.object({
  actionId: z.string(),
  to: storedAddress,
  data: storedHex,
  /** The value in wei. */
  value: storedBase,
  hash: storedHex,
  /** The transaction's nonce; null until a node has shown the transaction. */
  nonce: z.int().nullable(),
});

/**
 * A transaction that a linked wallet sends. `hash` is the hash that the client reported, or the
 * hash of the transaction that replaced it.
 */
export type WalletTransaction = z.output<typeof walletTransaction>;

export const storedWalletTransactions = z.object({
  /**
   * The transactions in the order in which they must be mined. The last transaction moves the
   * money.
   */
  transactions: z.array(walletTransaction).min(1),
  /**
   * The wallet's next nonce when the transactions were requested. No transaction has a lower
   * nonce.
   */
  fromNonce: z.int(),
});

export type WalletTransactions = z.output<typeof storedWalletTransactions>;

export type BalanceChange = z.output<typeof balanceChange>;

/**
 * Column `quoted`: the amount that an operation was expected to deliver when it was accepted, in
 * base units of the destination's token.
 */
export const storedQuoted = z.object({
  expectedBase: storedBase,
  /** The balance changes that were simulated before the operation waited for votes. */
  balanceChanges: z.array(balanceChange).readonly().optional().catch(undefined),
  /** The spent amount; set when an operation without legs has ended. */
  spentBase: storedBase.optional(),
  /** The received amount; set when an operation without legs has ended. */
  receivedBase: storedBase.optional(),
});

const numeric: Column<bigint> = {
  ...base,
  read: (stored) => toBigInt(stored as StoredNumeric),
};

const DAY_MS = 86_400_000;

/**
 * Column type DATE; the value is the start of the day in UTC. A query returns the number of days
 * since 1970 instead of the text of the date. The text depends on a session setting, and a node of
 * a Citus cluster does not accept a conversion that depends on a session setting in RETURNING.
 */
const day: Column<Date> = {
  type: "date",
  select: (name) => `${name} - DATE '1970-01-01'`,
  read: (stored) => (typeof stored === "number" ? new Date(stored * DAY_MS) : (stored as Date)),
  write: (value) => value,
};

const hex = text as Column<Hex>;
const hexes = arrayOf(hex);

export const storedVia = z.enum(["user_operation", "transaction", "permit"]);
export const storedPayer = z.enum(["sponsor", "wallet"]);

const LEG = {
  projectId: text,
  id: text,
  operationId: text,
  /** Index of the leg in the operation, from 0. */
  position: int,
  walletId: text,
  walletAddress: text as Column<EvmAddress>,
  sourceChainId: int,
  destChainId: int,
  state: oneOf(z.enum(LEG_STATES)),
  /**
   * How the leg's source transaction is made: a user operation that the service or the account's
   * owner signs, transactions that a linked wallet sends, or typed data that a linked wallet signs
   * and the treasury executes.
   */
  via: oneOf(storedVia),
  routeLeg: json<RouteLeg>(storedRouteLeg),
  amountBase: numeric,
  spentBase: nullable(numeric),
  receivedBase: nullable(numeric),
  fillDeadline: nullable(time),
  /** The smart account that executes the calls of a `permit` leg; otherwise null. */
  executorWalletId: nullable(text),
  /** The transactions of a linked wallet; null unless `via` is `transaction`. */
  walletTransactions: nullable(json(storedWalletTransactions)),
  /** The permit that a linked wallet signed; null unless `via` is `permit`. */
  permit: nullable(json<SignedPermit>(storedSignedPermit)),
  /** The ERC-4337 user operation; null until it is signed. */
  userOperation: nullable(json<UserOperation>(storedUserOperation)),
  userOpHash: nullable(hex),
  /**
   * Hashes of user operations that were signed earlier for the same nonce and calls. The chain
   * executes at most one of these operations and `userOperation`.
   */
  earlierUserOpHashes: hexes,
  /** Gas limits from the simulation at prepare time; `{}` when a wallet sends its transactions. */
  gas: json(z.unknown()),
  /** After this time the signed operation or permit can no longer be executed. */
  validUntil: nullable(time),
  /** The block at which the search for the receipt starts. */
  fromBlock: int8,
  sourceTxHash: nullable(hex),
  sourceBlock: nullable(int8),
  sourceConfirmations: int,
  /** The network fee in wei of the source chain's coin; null until the source is mined. */
  gasCostWei: nullable(numeric),
  /**
   * The payer of the network fee: `sponsor` is the project's paymaster, `wallet` the account that
   * pays for its own transaction.
   */
  gasPaidBy: nullable(oneOf(storedPayer)),
  deposit: json(z.unknown()),
  /**
   * The amount that went into the bridge, in base units of the bridged token; null until the source
   * is mined, and when nothing is bridged.
   */
  depositedBase: nullable(numeric),
  destTxHash: nullable(hex),
  destBlock: nullable(int8),
  /** Confirmations of the transaction that fills or refunds the bridge deposit. */
  destConfirmations: int,
  refundTxHash: nullable(hex),
  refundBlock: nullable(int8),
  refundedBase: nullable(numeric),
  /** The token in which the bridge refunds. For a native coin this is the wrapped token. */
  refundToken: nullable(json<Token>(storedToken)),
  /**
   * The evidence about a refund that the chains do not prove, and a person's decision about it;
   * null when nothing is unclear.
   */
  refundAttention: nullable(json(storedRefundAttention)),
  failure: nullable(json(storedFailure)),
  /** Reserved part of the project's sponsor budget, in wei; null when the sponsor does not pay. */
  sponsorReservedWei: nullable(numeric),
  /** The UTC day whose budget is charged. */
  sponsorDay: nullable(day),
  /** Incremented by each change, for compare-and-set. */
  version: int,
  updatedAt: time,
};

/**
 * Table `operation_leg`: one source's route to the destination, and its progress. Amounts are in
 * base units of their token.
 */
export const legs = table(LEG);

export const newLegs = table({ ...LEG, kind: text });

const ACCEPTED = {
  id: text,
  projectId: text,
  /** One of `OPERATION_KINDS`. */
  kind: text,
  status: oneOf(z.enum(STATUSES)),
  subStatus: oneOf(z.enum(SUB_STATUSES)),
  request: json<RouteRequest>(storedRouteRequest),
  quoted: json(storedQuoted),
  /** The minimum that must arrive, in base units of the destination's token. */
  minimumBase: numeric,
  /** The actor's name, as `actorName` returns it. */
  createdBy: text,
  retryOf: nullable(text),
  /** The time at which the operation was accepted; null while it awaits approval. */
  acceptedAt: nullable(time),
  createdAt: time,
  updatedAt: time,
  expiresAt: nullable(time),
  evaluationId: nullable(text),
};

/** Table `operation`: a movement of money that was accepted or awaits approval. */
export const operations = table({
  ...ACCEPTED,
  failure: nullable(json(storedFailure)),
  /** The id of the operation that retries the failed or refunded legs of this operation. */
  retriedBy: nullable(text),
  gasWaits: json(storedGasWaits),
});

export const newOperations = table({
  ...ACCEPTED,
  /** The lower-case terms by which the activity list finds the operation. */
  searchTerms: arrayOf(text),
});

/**
 * Statuses are read without parsing, because a CHECK constraint limits the column to known
 * statuses.
 */
export const operationStatus = text as Column<Status>;
/** Substatuses are read without parsing, because a CHECK constraint limits them too. */
export const operationSubStatus = text as Column<SubStatus>;

export const operationEvents = table({
  operationId: text,
  /** Sequence number of the event within its operation, from 1 and without gaps. */
  seq: int,
  type: text,
  data: json(z.record(z.string(), z.unknown())),
  createdAt: time,
});

export type OperationEvent = RowOf<typeof operationEvents>;
