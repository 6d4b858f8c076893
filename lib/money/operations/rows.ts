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

// The tables of this module. Their rows come from Prisma too, which reads NUMERIC as a Decimal.

type Hex = `0x${string}`;

/** Why a leg or an operation failed. The API and the pages show it. */
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
  /** The sender's nonce; null until a node has shown the transaction. */
  nonce: z.int().nullable(),
});

/**
 * A transaction that a linked wallet sends by itself: the hash that it reported, or that of the
 * replacement.
 */
export type WalletTransaction = z.output<typeof walletTransaction>;

/** Column `wallet_transactions`. */
export const storedWalletTransactions = z.object({
  /**
   * In the order in which they must be mined. The last one moves the money towards its destination.
   */
  transactions: z.array(walletTransaction).min(1),
  /**
   * The wallet's next nonce when the transactions were requested. None of them has a lower nonce.
   */
  fromNonce: z.int(),
});

export type WalletTransactions = z.output<typeof storedWalletTransactions>;

/**
 * Column `quoted`: the amount that an operation was expected to bring when it was accepted, in base
 * units of the destination's token.
 */
export const storedQuoted = z.object({
  expectedBase: storedBase,
  /** The spent amount of an operation without legs, once it has ended. */
  spentBase: storedBase.optional(),
  receivedBase: storedBase.optional(),
});

const numeric: Column<bigint> = {
  ...base,
  read: (stored) => toBigInt(stored as StoredNumeric),
};

const DAY_MS = 86_400_000;

/**
 * DATE, as the beginning of the day in UTC. The text of a date depends on a session setting, which
 * a node of a Citus cluster refuses in RETURNING. The number of days since 1970 does not.
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
   * signs, transactions that a linked wallet sends by itself, or typed data that a linked wallet
   * signs and the treasury executes.
   */
  via: oneOf(storedVia),
  routeLeg: json<RouteLeg>(storedRouteLeg),
  amountBase: numeric,
  spentBase: nullable(numeric),
  receivedBase: nullable(numeric),
  /** The time until which the bridge can fill the deposit. */
  fillDeadline: nullable(time),
  /**
   * The smart account that executes the calls of a `permit` leg. Null when the source wallet
   * executes them itself.
   */
  executorWalletId: nullable(text),
  /**
   * The transactions that a linked wallet was asked to send, and the hashes it sent; null unless
   * `via` is `transaction`.
   */
  walletTransactions: nullable(json(storedWalletTransactions)),
  /** Null unless `via` is `permit`. */
  permit: nullable(json<SignedPermit>(storedSignedPermit)),
  /** The signed operation (ERC-4337); null until it is signed. */
  userOperation: nullable(json<UserOperation>(storedUserOperation)),
  userOpHash: nullable(hex),
  /**
   * Hashes of operations that were signed earlier for the same nonce and calls. The chain executes
   * at most one of all of them.
   */
  earlierUserOpHashes: hexes,
  /**
   * Gas limits from the simulation at prepare time; `{}` when a wallet sends its own transactions.
   */
  gas: json(z.unknown()),
  /** After this time the signed operation or permit can no longer be executed. */
  validUntil: nullable(time),
  /** The block at which the search for the receipt starts. */
  fromBlock: int8,
  sourceTxHash: nullable(hex),
  sourceBlock: nullable(int8),
  sourceConfirmations: int,
  /** Network fee of the source, in wei of the chain's coin; null until the source is mined. */
  gasCostWei: nullable(numeric),
  /** Who paid the network fee: the project's paymaster, or the account itself. */
  gasPaidBy: nullable(oneOf(storedPayer)),
  /** The routing provider's JSON-safe identifier of a deposit. */
  deposit: json(z.unknown()),
  /**
   * The amount that went into the bridge, in base units of the bridged token; null until the source
   * is mined, and where nothing is bridged.
   */
  depositedBase: nullable(numeric),
  destTxHash: nullable(hex),
  destBlock: nullable(int8),
  /** Confirmations of the transaction that fills or refunds the bridge deposit. */
  destConfirmations: int,
  refundTxHash: nullable(hex),
  refundBlock: nullable(int8),
  refundedBase: nullable(numeric),
  /**
   * The token of the refund. The bridge refunds in its own token, which for a native coin is the
   * wrapped one.
   */
  refundToken: nullable(json<Token>(storedToken)),
  /**
   * The evidence about a refund that the chains do not show for certain, and a person's decision
   * about it; null where nothing is unclear.
   */
  refundAttention: nullable(json(storedRefundAttention)),
  failure: nullable(json(storedFailure)),
  /**
   * Amount of the project's sponsor budget reserved for the leg, in wei; null when the sponsor does
   * not pay.
   */
  sponsorReservedWei: nullable(numeric),
  /** The UTC day from whose budget the reservation is taken. */
  sponsorDay: nullable(day),
  /** Incremented with each change. Each compare-and-set names the version that it read. */
  version: int,
  updatedAt: time,
};

/**
 * Table `operation_leg`: how one source of an operation reaches the destination, and its progress.
 * Amounts are in base units of their token.
 */
export const legs = table(LEG);

/** A leg as it is stored. */
export const newLegs = table({ ...LEG, kind: text });

const ACCEPTED = {
  id: text,
  projectId: text,
  /** One of `OPERATION_KINDS`. */
  kind: text,
  status: oneOf(z.enum(STATUSES)),
  subStatus: oneOf(z.enum(SUB_STATUSES)),
  /** The requested route. */
  request: json<RouteRequest>(storedRouteRequest),
  quoted: json(storedQuoted),
  /** The minimum that must arrive, in base units of the destination's token. */
  minimumBase: numeric,
  /** The actor's name, as `actorName` returns it. */
  createdBy: text,
  /** The operation whose failed or refunded legs this one retries. */
  retryOf: nullable(text),
  /** When the operation was started; null while it awaits approval. */
  acceptedAt: nullable(time),
  createdAt: time,
  updatedAt: time,
  /** The time until which the operation can be approved. */
  expiresAt: nullable(time),
  /** The policy evaluation that allowed the operation; null while it awaits approval. */
  evaluationId: nullable(text),
};

/** Table `operation`: a movement of money that was accepted, or awaits approval. */
export const operations = table({
  ...ACCEPTED,
  failure: nullable(json(storedFailure)),
  /** The operation that retried this one's failed or refunded legs. */
  retriedBy: nullable(text),
  /** The chains whose network fee the operation waits for. */
  gasWaits: json(storedGasWaits),
});

/** An operation as it is first inserted. */
export const newOperations = table({
  ...ACCEPTED,
  /** The lower-case terms by which the activity list finds the operation. */
  searchTerms: arrayOf(text),
});

/** A status that is not parsed, because a CHECK constraint limits the column to known ones. */
export const operationStatus = text as Column<Status>;
/** Like `operationStatus`. */
export const operationSubStatus = text as Column<SubStatus>;

/** Something that happened to an operation or to one of its legs. */
export const operationEvents = table({
  operationId: text,
  /** Sequence number in the operation, from 1 and without gaps. */
  seq: int,
  type: text,
  data: json(z.record(z.string(), z.unknown())),
  createdAt: time,
});

export type OperationEvent = RowOf<typeof operationEvents>;
