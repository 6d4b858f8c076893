import { z } from "zod";
import { LEG_STATES } from "@/lib/contracts/operation-records";
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

// The tables of this module. Prisma reads some of the rows too, and returns NUMERIC as a Decimal.

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
  /** In wei. */
  value: storedBase,
  hash: storedHex,
  /** Null until a node has shown the transaction. */
  nonce: z.int().nullable(),
});

/**
 * A transaction that a linked wallet sends. `hash` is the hash that the client reported, or the
 * hash of the transaction that replaced it.
 */
export type WalletTransaction = z.output<typeof walletTransaction>;

export const storedWalletTransactions = z.object({
  /** In the order in which they must be mined. The last one moves the money. */
  transactions: z.array(walletTransaction).min(1),
  /**
   * The wallet's next nonce when the transactions were requested. All of them have at least this
   * nonce.
   */
  fromNonce: z.int(),
});

export type WalletTransactions = z.output<typeof storedWalletTransactions>;

/**
 * Column `quoted`: the amount that an operation was expected to deliver when it was accepted, in
 * base units of the destination's token.
 */
export const storedQuoted = z.object({
  expectedBase: storedBase,
  /** Set once an operation without legs has ended. */
  spentBase: storedBase.optional(),
  receivedBase: storedBase.optional(),
});

const numeric: Column<bigint> = {
  ...base,
  read: (stored) => toBigInt(stored as StoredNumeric),
};

const DAY_MS = 86_400_000;

/**
 * DATE, as the start of the day in UTC. It is read as the number of days since 1970, because the
 * text of a date depends on a session setting, which a node of a Citus cluster refuses in
 * RETURNING.
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
   * How the source reaches the chain: a user operation that the service or the account's owner
   * signs, transactions that a linked wallet sends, or typed data that a linked wallet signs and
   * the treasury executes.
   */
  via: oneOf(storedVia),
  routeLeg: json<RouteLeg>(storedRouteLeg),
  amountBase: numeric,
  spentBase: nullable(numeric),
  receivedBase: nullable(numeric),
  fillDeadline: nullable(time),
  /** The smart account that executes the calls of a `permit` leg; otherwise null. */
  executorWalletId: nullable(text),
  /** Null unless `via` is `transaction`. */
  walletTransactions: nullable(json(storedWalletTransactions)),
  /** Null unless `via` is `permit`. */
  permit: nullable(json<SignedPermit>(storedSignedPermit)),
  /** ERC-4337; null until it is signed. */
  userOperation: nullable(json<UserOperation>(storedUserOperation)),
  userOpHash: nullable(hex),
  /**
   * Hashes of operations signed earlier for the same nonce and calls. The chain executes at most
   * one of all these operations.
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
  /** In wei of the source chain's coin; null until the source is mined. */
  gasCostWei: nullable(numeric),
  /**
   * `sponsor` is the project's paymaster, `wallet` the account that pays for its own transaction.
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
  /** The bridge refunds in its own token, which for a native coin is the wrapped one. */
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
  /** Null while the operation awaits approval. */
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
  /** The operation that retries this one's failed or refunded legs. */
  retriedBy: nullable(text),
  gasWaits: json(storedGasWaits),
});

export const newOperations = table({
  ...ACCEPTED,
  /** The lower-case terms by which the activity list finds the operation. */
  searchTerms: arrayOf(text),
});

/** Not parsed, because a CHECK constraint limits the column to known statuses. */
export const operationStatus = text as Column<Status>;
export const operationSubStatus = text as Column<SubStatus>;

export const operationEvents = table({
  operationId: text,
  /** From 1 and without gaps, per operation. */
  seq: int,
  type: text,
  data: json(z.record(z.string(), z.unknown())),
  createdAt: time,
});

export type OperationEvent = RowOf<typeof operationEvents>;
