import { redactKnownSecrets, redactSecrets } from "./redaction";

/**
 * Every code that an error response `{message, code, requestId}` may have. `lib/http/problem.ts`
 * maps each code to its HTTP status; the type checker ensures that no code is missing there.
 */
export const ERROR_CODES = [
  "invalid_request",
  "unknown_parameter",
  "invalid_cursor",
  "unknown_wallet",
  "unauthorized",
  "api_key_expired",
  "api_key_revoked",
  "api_key_suspended",
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

/** One invalid field. `path` joins field names and list indices with dots: `from.0.amount`. */
export interface ErrorDetail {
  path: string;
  message: string;
  code?: string;
}

interface DomainErrorOptions {
  cause?: unknown;
  details?: readonly ErrorDetail[];
  /**
   * Further public fields of the response body, for example a new quote with `quote_price_moved`.
   */
  extra?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number;
  /**
   * True when the message is a text that a wallet signs. The URLs in such a text are not redacted.
   */
  isExact?: boolean;
}

// The server's bundle and Next's bundle each have a copy of this class, so `instanceof` fails
// across them. A registered symbol is the same in both bundles.
const DOMAIN_ERROR: unique symbol = Symbol.for("causeway.DomainError") as never;

/**
 * An error that is shown to the caller. The message is for people and the code for machines; the
 * cause is logged and never sent.
 * @example throw new DomainError("quote_expired", "This quote has expired.");
 */
export class DomainError extends Error {
  readonly [DOMAIN_ERROR] = true;
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    // A message may quote the answer of a node, a bundler or a mail server, which may contain a URL
    // with a key.
    const shown =
      options.isExact === true ? redactKnownSecrets(message) : redactSecrets(message);
    super(shown, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DomainError";
    this.code = code;
    this.details = options.details ?? [];
    this.extra = options.extra ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Whether a thrown value is a `DomainError`, from either bundle's copy of the class. */
export const isDomainError = (error: unknown): error is DomainError =>
  typeof error === "object" && error !== null && DOMAIN_ERROR in error;

/**
 * Creates the error `invalid_request` for one or more invalid fields. The default message is the
 * message of the first field. @see ErrorDetail
 */
export const invalidRequest = (
  details: readonly ErrorDetail[],
  message?: string,
): DomainError =>
  new DomainError(
    "invalid_request",
    message ?? details[0]?.message ?? "The request is not valid.",
    { details },
  );

/**
 * Creates the error `not_found`. Missing objects and objects of another project get the same error,
 * so that it does not reveal whether they exist.
 */
export const notFound = (): DomainError =>
  new DomainError(
    "not_found",
    "The path is right, but what it names does not exist or belongs to another project. Check the id and the project.",
  );

/** An API key whose secret was correct. */
export interface KeyName {
  readonly keyId: string;
  readonly projectId: string;
}

// The server's bundle and Next's bundle each have a copy of the class below, so `instanceof` fails
// across them. A registered symbol is the same in both bundles.
const REFUSED_KEY: unique symbol = Symbol.for("causeway.RefusedKeyError") as never;

/**
 * Thrown for an API key whose secret is correct, but which is revoked, suspended, expired, or used
 * from a network that is not allowed.
 */
export class RefusedKeyError extends DomainError {
  readonly [REFUSED_KEY]: KeyName;

  constructor(code: ErrorCode, message: string, key: KeyName) {
    super(code, message);
    this[REFUSED_KEY] = { keyId: key.keyId, projectId: key.projectId };
  }
}

/** The key that a `RefusedKeyError` is about; null for every other error. */
export const refusedKeyOf = (error: unknown): KeyName | null =>
  isDomainError(error) && REFUSED_KEY in error ? (error as RefusedKeyError)[REFUSED_KEY] : null;

const TEMPORARY = new Set<ErrorCode>(["chain_unavailable", "provider_error", "signing_off"]);

/**
 * Whether a step that moves money should be tried again after this error: a chain or a provider
 * does not answer, or signing is turned off. Any other error ends the step.
 */
export const isTemporary = (error: unknown): error is DomainError =>
  isDomainError(error) && TEMPORARY.has(error.code);
