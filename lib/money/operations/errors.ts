import { DomainError } from "@/lib/core/errors";

/**
 * Thrown when a payment cannot be the refund of a leg, because refunds of other legs have claimed
 * so much of the payment that the rest is too small.
 */
export class RefundTakenError extends DomainError {
  constructor() {
    super(
      "invalid_state",
      "Refunds of other deposits already account for this payment. Nothing was changed. Name the transaction that paid this one, or keep waiting.",
    );
  }
}

/**
 * Rolls back the transaction that accepts an operation, because another request was the first to
 * use the operation's source, such as its quote.
 */
export class UsedMeanwhileError extends Error {}

/** The error when another operation already retries the failed operation. Nothing was stored. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another operation tries this one again already. Nothing was sent.",
  );
