import { DomainError } from "@/lib/core/errors";

/** Refunds that other legs claimed from the same payment leave less of it than this leg needs. */
export class RefundTakenError extends DomainError {
  constructor() {
    super(
      "invalid_state",
      "Refunds of other deposits already account for this payment. Nothing was changed. Name the transaction that paid this one, or keep waiting.",
    );
  }
}

/** The source of an operation, such as its quote, was used by another one. Thrown by the judgement of a claim; nothing is stored then. */
export class UsedMeanwhileError extends Error {}

/** The error for a failed operation that another operation retries already. Nothing was stored. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError("invalid_state", "Another operation tries this one again already. Nothing was sent.");
