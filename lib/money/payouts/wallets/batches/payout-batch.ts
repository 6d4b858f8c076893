/** A batch of a payout, its states, and the transitions between them. */
import { z } from "zod";
import { toBigInt, toBigIntOrNull } from "@/lib/platform/db/decimal";
import { storedHex } from "@/lib/platform/db/codecs";
import type { Bearer } from "../account-side-repository";

/**
 * The allowed transitions of a batch. `sent` with `inDoubt` means that the operation was submitted
 * and the chain may or may not execute it. The batch becomes `queued` again when its attempt can
 * never be executed any more. A `failed` batch becomes `paid` when the chain shows, or a person
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

export const OPEN_STATES = [
  "queued",
  "signed",
  "sent",
  "mined",
] as const satisfies readonly BatchState[];

/** The data of a payout that the driver needs. These fields never change while the payout runs. */
export interface DrivenPayout {
  readonly projectId: string;
  readonly payoutId: string;
  readonly chainId: number;
  readonly fromWalletId: string;
  /** The id of the user or API key that requested the payout or created its schedule. */
  readonly askedBy: string;
  /** The account that funds the payout; null when the project funds it. */
  readonly bearer: Bearer | null;
}

/** The rows of one token that one user operation pays. */
export interface PayoutBatch {
  readonly projectId: string;
  readonly payoutId: string;
  readonly number: number;
  /** Lower-case address of the token, or `native`. */
  readonly token: string;
  /** The number of rows whose status is the status of the batch. */
  readonly rows: number;
  /** The sum of the rows that `rows` counts, in base units. */
  readonly amountBase: bigint;
  readonly state: BatchState;
  readonly inDoubt: boolean;
  /** The number of the latest attempt, from 1; 0 when nothing was signed yet. */
  readonly attempt: number;
  /**
   * The hash of the signed operation of this attempt. The full operation is read from the database
   * only to submit it.
   */
  readonly userOpHash: `0x${string}` | null;
  readonly validUntil: Date | null;
  /** The block at which the search for the operation's receipt begins. */
  readonly fromBlock: bigint | null;
  readonly txHash: string | null;
  readonly blockNumber: bigint | null;
  readonly confirmations: number;
  /** Gas cost of all attempts, in wei. */
  readonly gasCostWei: bigint;
  /** Gas cost of the attempts before the current one, in wei. */
  readonly formerGasWei: bigint;
  /**
   * The time since which the chain refuses the batch although no row is at fault; null when the
   * batch is not blocked.
   */
  readonly blockedSince: Date | null;
  /**
   * The part of the project's sponsor budget that is reserved for the batch, in wei; null when the
   * sponsor does not pay.
   */
  readonly sponsorReservedWei: bigint | null;
  /** The UTC day in whose budget the reservation counts. */
  readonly sponsorDay: Date | null;
  /** Counts the changes of the batch, for optimistic locking. */
  readonly version: number;
  readonly updatedAt: Date;
}

type Wei = Parameters<typeof toBigInt>[0];

/** A row of the table `wallet_payout_batch`, before `parseBatch`. */
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

const storedState = z.enum([
  "queued",
  "signed",
  "sent",
  "mined",
  "paid",
  "failed",
  "cancelled",
]);
const storedHash = storedHex.nullable();

/**
 * Parses a row of the table `wallet_payout_batch`.
 * @throws ZodError when a stored column does not have the shape that this version writes
 */
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

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export interface PayableRow {
  readonly index: number;
  readonly recipient: `0x${string}`;
  readonly amountBase: bigint;
}

/**
 * A row whose outcome differs from the outcome of its batch, or a paid row with a failure that
 * people must know.
 */
export interface RowOutcome {
  readonly index: number;
  readonly amountBase: bigint;
  /** The row's own status; null when the row has the outcome of its batch. */
  readonly status: "failed" | null;
  readonly failure: Failure;
}

/**
 * Returns the name of a batch. The name is the id of the batch's hold, of its reservation in the
 * sponsor's budget, and of its claim to deploy an account.
 */
export const batchName = ({
  payoutId,
  number,
}: Pick<PayoutBatch, "payoutId" | "number">): string => `${payoutId}/${String(number)}`;

/**
 * Returns the key of one version of a batch, `number/version`. Ledger entries about the batch use
 * this key. A version ends at most once, so its money is posted once.
 */
export const batchVersion = ({
  number,
  version,
}: Pick<PayoutBatch, "number" | "version">): string => `${String(number)}/${String(version)}`;

/** The number of attempts without effect after which a batch fails. */
export const ATTEMPTS_MAX = 3;

/**
 * Returns the name of an attempt, from which its nonce key is derived. EntryPoint executes at most
 * one operation with each nonce key.
 */
export const attemptName = (
  batch: Pick<PayoutBatch, "payoutId" | "number">,
  attempt: number,
): string => `${batchName(batch)}/${String(attempt)}`;

/**
 * Returns the names of all attempts of a batch, and of later attempts that the database may have
 * lost in a restore.
 */
export const namesOf = (
  batch: Pick<PayoutBatch, "payoutId" | "number" | "attempt">,
): readonly string[] =>
  Array.from({ length: Math.max(batch.attempt + 1, ATTEMPTS_MAX) }, (_, index) =>
    attemptName(batch, index + 1),
  );
