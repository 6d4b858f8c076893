/** A leg as the module works with it. Its JSON columns are parsed here and nowhere else. */
import { z } from "zod";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import type { Token } from "@/lib/core/token";
import { toBigInt, toBigIntOrNull, type RawRow } from "@/lib/db/decimal";
import type { OperationLeg } from "@/lib/db/generated/client";
import { storedSignedPermit, type SignedPermit } from "@/lib/modules/smart-accounts/service";
import type { UserOperation, UserOperationGas } from "@/lib/ports/bundler";
import type { EvmAddress, RouteLeg } from "@/lib/ports/routing";
import {
  storedAddress,
  storedBase,
  storedGas,
  storedHex,
  storedRouteLeg,
  storedToken,
  storedUserOperation,
  toStored,
} from "@/lib/ports/routing-json";
import { storedRefundAttention, type RefundAttention } from "./refund-attention";
import type { LegState } from "./summary";

type Hex = `0x${string}`;

/** Why a leg or an operation failed. Shown in its record, to people and machines. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** False when the money may have moved despite the failure. */
  readonly retryable: boolean;
}

/** Column `failure` of a leg or an operation. A stored failure without `retryable` may be retried. */
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

/** A transaction that a linked wallet sends by itself: the hash that it reported, or that of the replacement. */
export type WalletTransaction = z.output<typeof walletTransaction>;

/** Column `wallet_transactions`. */
export const storedWalletTransactions = z.object({
  /** In the order in which they must be mined. The last one moves the money to its destination. */
  transactions: z.array(walletTransaction).min(1),
  /** The wallet's next nonce when these transactions were requested, so none of them has a lower one. */
  fromNonce: z.int(),
});

export type WalletTransactions = z.output<typeof storedWalletTransactions>;

/**
 * How a leg's source reaches the chain: a user operation that the service or the account's owner signs, transactions that a linked
 * wallet sends by itself, or typed data that a linked wallet signs and the treasury executes.
 */
export type LegVia = "user_operation" | "transaction" | "permit";

/** How one source of an operation reaches the destination, and how far it is. Amounts in base units of their token. */
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
  /** After this time an unfilled bridge leg is refunded. */
  readonly fillDeadline: Date | null;
  /** The smart account that executes, when it is not the source wallet itself (`permit`). */
  readonly executorWalletId: string | null;
  /**
   * The transactions that a linked wallet was asked to send, and the hashes it sent; null unless `via` is
   * `transaction`.
   */
  readonly walletTransactions: WalletTransactions | null;
  /** Null unless `via` is `permit`. */
  readonly permit: SignedPermit | null;
  /** The signed operation (ERC-4337); null until it is signed. */
  readonly userOperation: UserOperation | null;
  readonly userOpHash: Hex | null;
  /** Operations that were signed before for the same nonce and calls; the chain executes at most one of all of them. */
  readonly earlierUserOpHashes: readonly Hex[];
  /** Gas limits from the simulation of prepare; null when a wallet sends its own transactions. */
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
  /** The routing provider's identifier of a deposit. JSON-safe. */
  readonly deposit: unknown;
  readonly destTxHash: Hex | null;
  readonly destBlock: bigint | null;
  /** Confirmations of the fill or of the refund. */
  readonly destConfirmations: number;
  readonly refundTxHash: Hex | null;
  readonly refundBlock: bigint | null;
  readonly refundedBase: bigint | null;
  /** The token of the refund. The bridge refunds in its own token, which for a native coin is the wrapped one. */
  readonly refundToken: Token | null;
  /** The evidence about a refund that the chains do not show for certain, and a person's decision about it; null where nothing is unclear. */
  readonly refundAttention: RefundAttention | null;
  readonly failure: Failure | null;
  /** Amount of the project's sponsor budget reserved for the leg, in wei; null when the sponsor does not pay. */
  readonly sponsorReservedWei: bigint | null;
  /** The UTC day whose budget the reservation uses. */
  readonly sponsorDay: Date | null;
  /** Incremented with each change; a compare-and-set names the version that was read. */
  readonly version: number;
  readonly updatedAt: Date;
}

/** The route of a leg as it is read again once it is stored. */
export const asStoredRouteLeg = (routeLeg: RouteLeg): RouteLeg => storedRouteLeg.parse(toStored(routeLeg));

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

/** The columns of a leg, from which its other fields are derived. */
export type LegRow = RawRow<Omit<OperationLeg, "kind">>;

/** @throws ZodError when a stored column does not have the shape that this version writes */
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
