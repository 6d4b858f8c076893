import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payout-records";
import { DomainError } from "@/lib/core/errors";

/** A payout that is not approved within this time (one day) expires. */
export const APPROVAL_SECONDS = 24 * 60 * 60;

/** Checks the number of rows of a payout. @throws DomainError `batch_too_large` */
export const requireRows = (count: number): void => {
  if (count <= PAYOUT_ROWS_MAX) return;
  const message = `A payout has at most ${String(PAYOUT_ROWS_MAX)} rows; this one has ${String(count)}. Nothing was paid.`;
  throw new DomainError("batch_too_large", message);
};
