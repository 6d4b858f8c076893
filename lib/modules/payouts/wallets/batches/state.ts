/** The states of a batch, and what their bounds are. */
import type { WalletPayoutBatch } from "@/lib/db/generated/client";

/**
 * From a batch that waits to one that is final. `sent` with `inDoubt`: it was offered, and whether it has its effect is not known. An
 * attempt that had none for good leads back to `queued`.
 */
export const BATCH_TRANSITIONS = {
  queued: ["signed", "failed", "cancelled"],
  signed: ["sent", "mined", "queued", "failed"],
  sent: ["mined", "queued", "failed"],
  mined: ["paid", "sent"],
  paid: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<string, readonly string[]>;

export type BatchState = keyof typeof BATCH_TRANSITIONS;

export const OPEN_STATES = ["queued", "signed", "sent", "mined"] as const satisfies readonly BatchState[];

/** What the driver reads of a batch; the signed operation is read only when it is offered. */
export type BatchRow = Omit<WalletPayoutBatch, "userOperation"> & { readonly state: BatchState };

/** Shown in the record, to people and machines. */
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

/** A row that ends otherwise than its batch, or of which there is something to say. */
export interface RowOutcome {
  readonly index: number;
  readonly amountBase: bigint;
  /** Null: it ends as its batch does. */
  readonly status: "failed" | null;
  readonly failure: Failure;
}

/** What a batch is called by its hold and by the claim to deploy an account. */
export const batchName = ({ payoutId, number }: Pick<BatchRow, "payoutId" | "number">): string =>
  `${payoutId}/${String(number)}`;

/** Names the nonce of one attempt, so that EntryPoint executes whatever is signed for it at most once. */
export const attemptName = (batch: Pick<BatchRow, "payoutId" | "number">, attempt: number): string =>
  `${batchName(batch)}/${String(attempt)}`;
