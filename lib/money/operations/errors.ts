import { DomainError } from "@/lib/core/errors";

/**
 * Other legs have claimed so much of the payment as their refunds that the rest is too small for
 * this leg.
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
 * The source of an operation, such as its quote, was used by another request first. Nothing is
 * stored then.
 */
export class UsedMeanwhileError extends Error {}

/** The error for a failed operation that another operation already retries. Nothing was stored. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another operation tries this one again already. Nothing was sent.",
  );
