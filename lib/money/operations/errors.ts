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
 * Another request used the source of an operation, such as its quote, first. Nothing is stored
 * then.
 */
export class UsedMeanwhileError extends Error {}

/** Another operation already retries the failed one. Nothing was stored. */
export const retriedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Another operation tries this one again already. Nothing was sent.",
  );
