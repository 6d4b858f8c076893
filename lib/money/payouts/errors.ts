/**
 * Reads the cursor of a page of rows: the index of the last row of the previous page, or -1 for the
 * first page.
 */
export const rowBefore = (cursor: string | undefined): number =>
  cursor === undefined ? -1 : Number(cursor);

/**
 * Rolls back a transaction because another payout was stored first: it used the same
 * Idempotency-Key, retries the same payout, or belongs to the same run of a schedule. Also thrown
 * when the run has ended without a payout.
 */
export class UsedAlreadyError extends Error {}

/** Rolls back the transaction that would store the payout of a run whose schedule was cancelled. */
export class ScheduleCancelledError extends Error {}

/**
 * Rolls back the transaction that would start a payout without a code, because a code turned out to
 * be needed. The caller then stores the payout so that it awaits approval.
 */
export class NotAdmittedError extends Error {}

/** Failure code of a batch in doubt: another operation may have made the batch's payments. */
export const IN_DOUBT_CODE = "source_replaced";

/**
 * Failure code of a payout whose funding operation failed, so that the missing money did not reach
 * the payout's chain.
 */
export const FUNDING_FAILED = "funding_failed";
