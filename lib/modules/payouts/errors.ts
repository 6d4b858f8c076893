/** Thrown inside a transaction to roll it back: another payout used the Idempotency-Key, or already retries the same payout. */
export class UsedAlreadyError extends Error {}

/** Thrown inside the transaction that would store the payout of a run whose schedule was cancelled. */
export class ScheduleCancelledError extends Error {}

/** Thrown inside the transaction that would let a payout run at once, when its caller's policy needs a code after all. */
export class NotAdmittedError extends Error {}
