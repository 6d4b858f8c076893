import { DomainError, invalidRequest } from "@/lib/core/errors";

/** The refusal of a cursor that no list of payouts, rows or schedules gave. */
export const badCursor = (): DomainError =>
  invalidRequest([{ path: "cursor", message: "is not one that a list gave" }]);

/**
 * The index in a cursor over rows, of the last row of the page before; -1 for the first page.
 * @throws DomainError `invalid_request`
 */
export const rowBefore = (cursor: string | undefined): number => {
  if (cursor === undefined) return -1;
  if (!/^[0-9]{1,9}$/.test(cursor)) throw badCursor();
  return Number(cursor);
};

/** Thrown inside a transaction to roll it back: another payout used the Idempotency-Key, or already retries the same payout. */
export class UsedAlreadyError extends Error {}

/** Thrown inside the transaction that would store the payout of a run whose schedule was cancelled. */
export class ScheduleCancelledError extends Error {}

/** Thrown inside the transaction that would let a payout run at once, when its caller's policy needs a code after all. */
export class NotAdmittedError extends Error {}

/** @throws NotAdmittedError */
export const notAdmitted = (): never => {
  throw new NotAdmittedError();
};

/** Why a record of another version is shown only in part. */
export const MADE_LATER =
  "Another version of the service stored this, and this version cannot read all of it: what is missing is shown as zero or UNKNOWN. It is not lost, and the version that stored it carries it on. Update every instance to the newest version, then read it again.";

/** Too little of a payout can be read, or something was asked of it that this version must not do. */
export const notReadable = (): DomainError => new DomainError("invalid_state", MADE_LATER);
