import { DomainError, type ErrorCode, notFound } from "@/lib/core/errors";
import type { Rejection, RejectionCode } from "./snapshot";

const ANSWERS: Readonly<Record<RejectionCode, readonly [ErrorCode, string]>> = {
  unknown_account: ["not_found", ""],
  unknown_transaction: ["not_found", ""],
  wrong_currency: [
    "invalid_request",
    "The account is of another currency. Nothing was posted.",
  ],
  account_frozen: ["invalid_state", "An account is frozen or closed. Nothing was posted."],
  same_account: [
    "invalid_request",
    "Source and recipient are the same account. Nothing was posted.",
  ],
  invalid_amount: ["invalid_request", "The amount must be above zero. Nothing was posted."],
  amount_too_large: [
    "invalid_request",
    "The balance would grow beyond what can be stored. Nothing was posted.",
  ],
  insufficient_balance: [
    "insufficient_balance",
    "The account does not hold enough. Nothing was posted.",
  ],
  insufficient_reserves: [
    "insufficient_reserves",
    "The treasury does not hold enough on chain for what would be owed to accounts. Nothing was posted.",
  ],
  invalid_rows: ["invalid_request", "Some rows cannot be posted, so none was."],
  not_reversible: [
    "invalid_state",
    "This transaction moved no money, or is a reversal itself. Nothing was posted.",
  ],
  already_reversed: [
    "invalid_state",
    "This transaction was reversed before. Nothing was posted.",
  ],
  idempotency_mismatch: [
    "idempotency_mismatch",
    "The key was used for another request. Nothing was posted.",
  ],
};

/** Converts a rejection to the error for callers. The details name the invalid rows by index. */
export const toDomainError = (rejection: Rejection): DomainError => {
  const [code, message] = ANSWERS[rejection.code];
  if (code === "not_found") return notFound();
  const details = (rejection.rows ?? []).map((row) => ({
    path: `transfers.${String(row.index)}`,
    message: ANSWERS[row.code][1] || "There is no such account.",
    code: row.code,
  }));
  return new DomainError(code, message, { details });
};

/**
 * The connection was lost, or none was available. It is unknown whether a running commit succeeded.
 */
export class ConnectionLostError extends Error {}

/**
 * PostgreSQL ended the transaction because of a conflict with another one. The transaction may be
 * repeated.
 */
export class ConflictError extends Error {}

/**
 * Another instance has stored an answer to one of the keys. The batch must be decided again with
 * that answer.
 */
export class KeyTakenError extends Error {}
