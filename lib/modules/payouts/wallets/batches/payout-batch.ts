/** A batch of a payout, its states, and the transitions between them. */
import { z } from "zod";
import { toBigInt, toBigIntOrNull } from "@/lib/db/decimal";
import { storedHex } from "@/lib/ports/routing-json";
import type { Bearer } from "../account-side-repository";

/**
 * Allowed transitions of a batch. `sent` with `inDoubt`: the operation was submitted, and it is not known whether the chain executes it.
 * When an attempt can never be executed any more, the batch is `queued` again. A `failed` batch is `paid` when the chain shows, or a person
 * states, that another operation paid it.
 */
export const BATCH_TRANSITIONS = {
  queued: ["signed", "failed", "cancelled"],
  signed: ["sent", "mined", "queued", "failed"],
  sent: ["mined", "queued", "failed"],
  mined: ["paid", "sent"],
  paid: [],
  failed: ["paid"],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type BatchState = keyof typeof BATCH_TRANSITIONS;

export const OPEN_STATES = ["queued", "signed", "sent", "mined"] as const satisfies readonly BatchState[];

/** The facts about the payout that the driver needs; they never change while the payout runs. */
export interface DrivenPayout {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
  /** Who asked for it, or made its schedule; null where it is not stored. */
  readonly askedBy: string | null;
  /** The account that bears the payout; null: the project bears it. */
  readonly bearer: Bearer | null;
}

/** Rows of one token that are paid by one user operation. */
export interface PayoutBatch {
  readonly projectId: string;
  readonly payoutId: string;
  readonly number: number;
  /** Lower-case address, or `native`. */
  readonly token: string;
  /** The number of rows without a status of their own; `amountBase` is the sum of these rows. */
  readonly rows: number;
  readonly amountBase: bigint;
  readonly state: BatchState;
  /** True: the operation was submitted, and it is not known whether the chain accepted it. */
  readonly inDoubt: boolean;
  /** Number of the attempt, from 1; 0: nothing was signed yet. */
  readonly attempt: number;
  /** Hash of this attempt's signed operation. The operation itself is read only to submit it. */
  readonly userOpHash: `0x${string}` | null;
  readonly validUntil: Date | null;
  /** The block at which the search for its receipt begins. */
  readonly fromBlock: bigint | null;
  readonly txHash: string | null;
  readonly blockNumber: bigint | null;
  readonly confirmations: number;
  /** Gas cost of all attempts, in wei. */
  readonly gasCostWei: bigint;
  /** Gas cost of the earlier attempts, in wei. */
  readonly formerGasWei: bigint;
  /** The time since which the chain would not execute the batch although no row is at fault; null when the batch is not blocked. */
  readonly blockedSince: Date | null;
  /** The part of the project's sponsor budget that is set aside for it; null when the sponsor does not pay. */
  readonly sponsorReservedWei: bigint | null;
  /** The UTC day to whose budget the reservation counts. */
  readonly sponsorDay: Date | null;
  /** Number of changes, for optimistic locking. */
  readonly version: number;
  readonly updatedAt: Date;
}

type Wei = Parameters<typeof toBigInt>[0];

/** A row of the table `wallet_payout_batch`. Its columns are parsed here and nowhere else. */
interface BatchColumns extends Omit<
  PayoutBatch,
  | "amountBase"
  | "state"
  | "userOpHash"
  | "fromBlock"
  | "blockNumber"
  | "gasCostWei"
  | "formerGasWei"
  | "sponsorReservedWei"
> {
  readonly amountBase: Wei;
  readonly state: string;
  readonly userOpHash: string | null;
  readonly fromBlock: Wei | null;
  readonly blockNumber: Wei | null;
  readonly gasCostWei: Wei;
  readonly formerGasWei: Wei;
  readonly sponsorReservedWei: Wei | null;
}

const storedState = z.enum(["queued", "signed", "sent", "mined", "paid", "failed", "cancelled"]);
const storedHash = storedHex.nullable();

/** @throws ZodError when a stored column does not have the shape that this version writes */
export const parseBatch = (row: BatchColumns): PayoutBatch => ({
  projectId: row.projectId,
  payoutId: row.payoutId,
  number: row.number,
  token: row.token,
  rows: row.rows,
  amountBase: toBigInt(row.amountBase),
  state: storedState.parse(row.state),
  inDoubt: row.inDoubt,
  attempt: row.attempt,
  userOpHash: storedHash.parse(row.userOpHash),
  validUntil: row.validUntil,
  fromBlock: toBigIntOrNull(row.fromBlock),
  txHash: row.txHash,
  blockNumber: toBigIntOrNull(row.blockNumber),
  confirmations: row.confirmations,
  gasCostWei: toBigInt(row.gasCostWei),
  formerGasWei: toBigInt(row.formerGasWei),
  blockedSince: row.blockedSince,
  sponsorReservedWei: toBigIntOrNull(row.sponsorReservedWei),
  sponsorDay: row.sponsorDay,
  version: row.version,
  updatedAt: row.updatedAt,
});

/** The reason of a failure: a code for machines and a message for people. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** A row of a batch that is still to be paid. */
export interface PayableRow {
  readonly index: number;
  readonly recipient: `0x${string}`;
  readonly amountBase: bigint;
}

/** A row whose outcome differs from its batch's, or that has something to report. */
export interface RowOutcome {
  readonly index: number;
  readonly amountBase: bigint;
  /** Null: the row has the outcome of its batch. */
  readonly status: "failed" | null;
  readonly failure: Failure;
}

/** The name of a batch in its hold, and in the claim to deploy an account. */
export const batchName = ({ payoutId, number }: Pick<PayoutBatch, "payoutId" | "number">): string =>
  `${payoutId}/${String(number)}`;

/** Key of one version of a batch, `number/version`. A version ends once, so what is settled under its key is settled once. */
export const batchVersion = ({ number, version }: Pick<PayoutBatch, "number" | "version">): string =>
  `${String(number)}/${String(version)}`;

/** The rows fail after this many attempts without effect. */
export const ATTEMPTS_MAX = 3;

/** Names the nonce key of one attempt. EntryPoint executes at most one operation with it. */
export const attemptName = (batch: Pick<PayoutBatch, "payoutId" | "number">, attempt: number): string =>
  `${batchName(batch)}/${String(attempt)}`;

/** The names of all attempts of a batch, and of those that a database that was lost may have made after them. */
export const namesOf = (batch: Pick<PayoutBatch, "payoutId" | "number" | "attempt">): readonly string[] =>
  Array.from({ length: Math.max(batch.attempt + 1, ATTEMPTS_MAX) }, (_, index) => attemptName(batch, index + 1));
