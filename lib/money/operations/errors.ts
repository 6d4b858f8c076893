import { DomainError } from "@/lib/core/errors";

/**
 * Refunds of other legs have claimed so much of a payment that the rest is too small for this leg.
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
 * Another request was the first to use the source of an operation, such as its quote. Nothing is
 * stored for this request.
 */
export class UsedMeanwhileError extends Error {}

/** The error when another operation already retries the failed operation. Nothing was stored. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another operation tries this one again already. Nothing was sent.",
  );
