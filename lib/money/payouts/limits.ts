import { PAYOUT_ROWS_MAX } from "@/lib/core/payout-facts";
import { DomainError, type ErrorCode, type ErrorDetail } from "@/lib/core/errors";

/** Seconds after which a payout that nobody has approved expires: one day. */
export const APPROVAL_SECONDS = 24 * 60 * 60;

/**
 * Checks that a payout does not have too many rows.
 * @throws DomainError `batch_too_large`
 */
export const requireRows = (count: number): void => {
  if (count <= PAYOUT_ROWS_MAX) return;
  const message = `A payout has at most ${String(PAYOUT_ROWS_MAX)} rows; this one has ${String(count)}. Nothing was paid.`;
  throw new DomainError("batch_too_large", message);
};

/**
 * Fault codes that the error for a whole request may have. When all faults have the same code and
 * it is in this set, the error has that code. Otherwise the error has the code `invalid_request`.
 */
const OWN_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  "amount_precision",
  "unsupported_token",
  "recipient_not_allowed",
  "recipient_frozen",
]);

/**
 * Throws an error when rows of a request have faults.
 * @throws DomainError with a detail for every fault
 */
export const refuseFaults = (faults: readonly ErrorDetail[], rowCount: number): void => {
  const [first] = faults;
  if (first === undefined) return;
  const bad = new Set(faults.map(({ path }) => path.split(".")[1])).size;
  const message = `${String(bad)} of ${String(rowCount)} rows cannot be paid. Nothing was paid.`;
  const same =
    faults.every(({ code }) => code === first.code) && OWN_CODES.has(first.code ?? "");
  throw new DomainError(same ? (first.code as ErrorCode) : "invalid_request", message, {
    details: faults,
  });
};
