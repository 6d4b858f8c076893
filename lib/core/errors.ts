import { redactSecrets } from "./redaction";

/**
 * Every code that an error response `{message, code, requestId}` may have.
 * `lib/http/problem.ts` maps each code to its HTTP status; the type checker ensures that no code is missing there.
 */
export const ERROR_CODES = [
  "invalid_request",
  "unknown_wallet",
  "unauthorized",
  "api_key_expired",
  "api_key_revoked",
  "invalid_signature",
  "forbidden",
  "insufficient_scope",
  "recipient_not_allowed",
  "policy_violation",
  "screening_refused",
  "sign_up_closed",
  "not_found",
  "method_not_allowed",
  "invalid_state",
  "otp_channel_missing",
  "otp_required",
  "approval_required",
  "quote_already_used",
  "quote_price_moved",
  "wallet_already_linked",
  "duplicate_payout",
  "paid_already",
  "idempotency_in_progress",
  "idempotency_mismatch",
  "quote_expired",
  "nonce_expired",
  "otp_expired",
  "payload_too_large",
  "unsupported_media_type",
  "otp_invalid",
  "insufficient_balance",
  "insufficient_reserves",
  "insufficient_liquidity",
  "unsupported_chain",
  "unsupported_token",
  "no_route",
  "price_impact_too_high",
  "minimum_not_reached",
  "amount_precision",
  "recipient_frozen",
  "wallet_frozen",
  "simulation_failed",
  "sponsor_budget_exceeded",
  "batch_too_large",
  "below_pool_minimum",
  "unknown_pool",
  "unknown_privacy_wallet",
  "note_spent",
  "small_anonymity_set",
  "rate_limited",
  "otp_attempts_exceeded",
  "provider_error",
  "chain_unavailable",
  "service_unavailable",
  "signing_off",
  "internal_error",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** One invalid field. `path` has dots between field names and uses the index of list items: `from.0.amount`. */
export interface ErrorDetail {
  path: string;
  message: string;
  code?: string;
}

interface DomainErrorOptions {
  cause?: unknown;
  details?: readonly ErrorDetail[];
  /** Further public fields of the response body, for instance a new quote with `quote_price_moved`. */
  extra?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number;
}

// The server's bundle and Next's bundle each have a copy of this class, so `instanceof` fails across them; a registered symbol works.
const DOMAIN_ERROR: unique symbol = Symbol.for("causeway.DomainError") as never;

/**
 * An error that is shown to the caller. The message is for people and the code for machines; the cause is logged and never sent.
 * @example throw new DomainError("quote_expired", "This quote has expired.");
 */
export class DomainError extends Error {
  readonly [DOMAIN_ERROR] = true;
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    // A message may quote the answer of a node, a bundler or a mail server, which may contain a URL with a key.
    super(redactSecrets(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DomainError";
    this.code = code;
    this.details = options.details ?? [];
    this.extra = options.extra ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether a thrown value is a `DomainError`, also one of the other bundle's copy of the class. */
export const isDomainError = (error: unknown): error is DomainError =>
  typeof error === "object" && error !== null && DOMAIN_ERROR in error;

/** Makes the error `invalid_request` for one or more invalid fields. Default message: that of the first field. @see ErrorDetail */
export const invalidRequest = (details: readonly ErrorDetail[], message?: string): DomainError =>
  new DomainError("invalid_request", message ?? details[0]?.message ?? "The request is not valid.", { details });

/** Makes the error `not_found`, which is the same for objects that do not exist and for objects of another project. */
export const notFound = (): DomainError => new DomainError("not_found", "There is nothing here that you may see.");
