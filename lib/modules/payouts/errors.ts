import { DomainError } from "@/lib/core/errors";

/** Thrown inside a transaction to roll it back: another payout used the Idempotency-Key, or already retries the same payout. */
export class UsedAlreadyError extends Error {}

/** Thrown inside the transaction that would store the payout of a run whose schedule was cancelled. */
export class ScheduleCancelledError extends Error {}

/** Thrown inside the transaction that would let a payout run at once, when its caller's policy needs a code after all. */
export class NotAdmittedError extends Error {}

/** Why a record of another version is shown only in part. */
export const MADE_LATER =
  "Another version of the service stored this, and this version cannot read all of it: what is missing is shown as zero or UNKNOWN. It is not lost, and the version that stored it carries it on. Update every instance to the newest version, then read it again.";

/** Too little of a payout can be read, or something was asked of it that this version must not do. */
export const notReadable = (): DomainError => new DomainError("invalid_state", MADE_LATER);
