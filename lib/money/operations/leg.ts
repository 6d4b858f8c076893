import { z } from "zod";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import type { Token } from "@/lib/core/token";
import { type RawRow, toBigInt, toBigIntOrNull } from "@/lib/platform/db/decimal";
import type { OperationLeg } from "@/lib/platform/db/generated/client";
import { type SignedPermit, storedSignedPermit } from "@/lib/chain/smart-accounts/service";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteLeg } from "@/lib/money/ports/routing";
import {
  storedAddress,
  storedBase,
  storedHex,
  storedToken,
  toStored,
} from "@/lib/platform/db/codecs";
import { storedGas, storedUserOperation } from "@/lib/chain/erc4337/stored";
import { storedRouteLeg } from "@/lib/money/ports/routing-json";
import { type RefundAttention, storedRefundAttention } from "./refund-attention";
import type { LegState } from "./summary";
import type { Reservation } from "@/lib/books/sponsorship/service";

// A leg as the module works with it. Its JSON columns are parsed only in this file.

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
 * How a leg's source reaches the chain: a user operation that the service or the account's owner
 * signs, transactions that a linked wallet sends by itself, or typed data that a linked wallet
 * signs and the treasury executes.
 */
type LegVia = "user_operation" | "transaction" | "permit";

/**
 * How one source of an operation reaches the destination, and its progress. Amounts are in base
 * units of their token.
 */
export interface Leg {
  readonly projectId: string;
  readonly id: string;
  readonly operationId: string;
  /** Index of the leg in the operation, from 0. */
  readonly position: number;
  readonly walletId: string;
  readonly walletAddress: EvmAddress;
  readonly sourceChainId: number;
  readonly destChainId: number;
  readonly state: LegState;
  readonly via: LegVia;
  readonly routeLeg: RouteLeg;
  readonly amountBase: bigint;
  readonly spentBase: bigint | null;
  readonly receivedBase: bigint | null;
  /**
   * The smart account that executes the calls of a `permit` leg. Null when the source wallet
   * executes them itself.
   */
  readonly fillDeadline: Date | null;
  /**
   * The transactions that a linked wallet was asked to send, with the hashes that it reported. Null
   * unless `via` is `transaction`.
   */
  readonly executorWalletId: string | null;
  /**
   * The transactions that a linked wallet was asked to send, and the hashes it sent; null unless
   * `via` is `transaction`.
   */
  readonly walletTransactions: WalletTransactions | null;
  /** Null unless `via` is `permit`. */
  readonly permit: SignedPermit | null;
  /** The signed operation (ERC-4337); null until it is signed. */
  readonly userOperation: UserOperation | null;
  readonly userOpHash: Hex | null;
  /**
   * Hashes of operations that were signed earlier for the same nonce and calls. The chain executes
   * at most one of all of them.
   */
  readonly earlierUserOpHashes: readonly Hex[];
  /**
   * Gas limits from the simulation at prepare time; null when a wallet sends its own transactions.
   */
  readonly gas: UserOperationGas | null;
  /** After this time the signed operation or permit can no longer be executed. */
  readonly validUntil: Date | null;
  /** The block at which the search for the receipt starts. */
  readonly fromBlock: bigint;
  readonly sourceTxHash: Hex | null;
  readonly sourceBlock: bigint | null;
  readonly sourceConfirmations: number;
  /** Network fee of the source, in wei of the chain's coin; null until the source is mined. */
  readonly gasCostWei: bigint | null;
  /** Who paid the network fee: the project's paymaster, or the account itself. */
  readonly gasPaidBy: "sponsor" | "wallet" | null;
  /** The routing provider's JSON-safe identifier of a deposit. */
  readonly deposit: unknown;
  /**
   * The amount that went into the bridge, in base units of the bridged token; null until the source
   * is mined, and where nothing is bridged.
   */
  readonly depositedBase: bigint | null;
  readonly destTxHash: Hex | null;
  readonly destBlock: bigint | null;
  /** Confirmations of the transaction that fills or refunds the bridge deposit. */
  readonly destConfirmations: number;
  readonly refundTxHash: Hex | null;
  readonly refundBlock: bigint | null;
  readonly refundedBase: bigint | null;
  /**
   * The token of the refund. The bridge refunds in its own token, which for a native coin is the
   * wrapped one.
   */
  readonly refundToken: Token | null;
  /**
   * The evidence about a refund that the chains do not show for certain, and a person's decision
   * about it; null where nothing is unclear.
   */
  readonly refundAttention: RefundAttention | null;
  readonly failure: Failure | null;
  /**
   * Amount of the project's sponsor budget reserved for the leg, in wei; null when the sponsor does
   * not pay.
   */
  readonly sponsorReservedWei: bigint | null;
  /** The UTC day from whose budget the reservation is taken. */
  readonly sponsorDay: Date | null;
  /** Incremented with each change. Each compare-and-set names the version that it read. */
  readonly version: number;
  readonly updatedAt: Date;
}

/** The leg's route as it looks after being stored as JSON and parsed again. */
export const asStoredRouteLeg = (routeLeg: RouteLeg): RouteLeg =>
  storedRouteLeg.parse(toStored(routeLeg));

/** The fields of a leg, beside its state, that a step may change. Null clears a column. */
export type LegChange = Partial<
  Omit<
    Leg,
    | "projectId"
    | "id"
    | "operationId"
    | "position"
    | "state"
    | "version"
    | "updatedAt"
    | "sponsorReservedWei"
    | "sponsorDay"
  >
>;

export const storedVia = z.enum(["user_operation", "transaction", "permit"]);
const state = z.enum(LEG_STATES);
export const storedPayer = z.enum(["sponsor", "wallet"]);

/** The columns from which a leg is parsed. */
export type LegRow = RawRow<Omit<OperationLeg, "kind">>;

/** @throws ZodError when a stored column does not have the expected shape */
export const parseLeg = (row: LegRow): Leg => ({
  projectId: row.projectId,
  id: row.id,
  operationId: row.operationId,
  position: row.position,
  walletId: row.walletId,
  walletAddress: row.walletAddress as EvmAddress,
  sourceChainId: row.sourceChainId,
  destChainId: row.destChainId,
  state: state.parse(row.state),
  via: storedVia.parse(row.via),
  routeLeg: storedRouteLeg.parse(row.routeLeg),
  amountBase: toBigInt(row.amountBase),
  spentBase: toBigIntOrNull(row.spentBase),
  receivedBase: toBigIntOrNull(row.receivedBase),
  fillDeadline: row.fillDeadline,
  executorWalletId: row.executorWalletId,
  walletTransactions: storedWalletTransactions.nullable().parse(row.walletTransactions),
  permit: storedSignedPermit.nullable().parse(row.permit),
  userOperation: storedUserOperation.nullable().parse(row.userOperation),
  userOpHash: row.userOpHash as Hex | null,
  earlierUserOpHashes: row.earlierUserOpHashes as Hex[],
  gas: row.via === "transaction" ? null : storedGas.parse(row.gas),
  validUntil: row.validUntil,
  fromBlock: row.fromBlock,
  sourceTxHash: row.sourceTxHash as Hex | null,
  sourceBlock: row.sourceBlock,
  sourceConfirmations: row.sourceConfirmations,
  gasCostWei: toBigIntOrNull(row.gasCostWei),
  gasPaidBy: storedPayer.nullable().parse(row.gasPaidBy),
  deposit: row.deposit,
  depositedBase: toBigIntOrNull(row.depositedBase),
  destTxHash: row.destTxHash as Hex | null,
  destBlock: row.destBlock,
  destConfirmations: row.destConfirmations,
  refundTxHash: row.refundTxHash as Hex | null,
  refundBlock: row.refundBlock,
  refundedBase: toBigIntOrNull(row.refundedBase),
  refundToken: storedToken.nullable().parse(row.refundToken),
  refundAttention: storedRefundAttention.nullable().parse(row.refundAttention),
  failure: storedFailure.nullable().parse(row.failure),
  sponsorReservedWei: toBigIntOrNull(row.sponsorReservedWei),
  sponsorDay: row.sponsorDay,
  version: row.version,
  updatedAt: row.updatedAt,
});

// Reservations of the project's sponsor budget. A reservation is stored in its leg's row and ends
// with the leg.

type Reserving = Pick<Leg, "sourceChainId" | "sponsorReservedWei" | "sponsorDay">;

/** Null when the sponsor pays nothing for the leg. */
export const reservationOf = (
  { projectId }: { readonly projectId: string },
  { sourceChainId, sponsorReservedWei, sponsorDay }: Reserving,
): Reservation | null =>
  sponsorReservedWei === null || sponsorDay === null
    ? null
    : { projectId, chainId: sourceChainId, day: sponsorDay, reservedWei: sponsorReservedWei };
