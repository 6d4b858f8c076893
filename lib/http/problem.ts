import { DomainError, type ErrorCode, isDomainError } from "@/lib/core/errors";
import { chainTroubleOf, outageOf } from "@/lib/core/outage";
import { redactKnownSecrets } from "@/lib/core/redaction";
import { JSON_TYPE, type Answer } from "./reply";

/** The only map from error code to HTTP status. A new code does not compile without a line here. */
export const STATUS_OF = {
  invalid_request: 400,
  unknown_parameter: 400,
  invalid_cursor: 400,
  unknown_wallet: 400,
  unauthorized: 401,
  api_key_expired: 401,
  api_key_revoked: 401,
  api_key_suspended: 401,
  invalid_signature: 401,
  forbidden: 403,
  insufficient_scope: 403,
  recipient_not_allowed: 403,
  policy_violation: 403,
  screening_refused: 403,
  sign_up_closed: 403,
  not_found: 404,
  method_not_allowed: 405,
  invalid_state: 409,
  otp_channel_missing: 409,
  otp_required: 409,
  approval_required: 409,
  quote_already_used: 409,
  quote_price_moved: 409,
  wallet_already_linked: 409,
  duplicate_payout: 409,
  paid_already: 409,
  idempotency_in_progress: 409,
  quote_expired: 410,
  nonce_expired: 410,
  otp_expired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  otp_invalid: 422,
  insufficient_balance: 422,
  insufficient_reserves: 422,
  insufficient_liquidity: 422,
  unsupported_chain: 422,
  unsupported_token: 422,
  no_route: 422,
  price_impact_too_high: 422,
  minimum_not_reached: 422,
  amount_precision: 422,
  recipient_frozen: 422,
  wallet_frozen: 422,
  simulation_failed: 422,
  sponsor_budget_exceeded: 422,
  batch_too_large: 422,
  below_pool_minimum: 422,
  unknown_pool: 422,
  unknown_privacy_wallet: 404,
  note_spent: 409,
  small_anonymity_set: 409,
  idempotency_mismatch: 422,
  rate_limited: 429,
  otp_attempts_exceeded: 429,
  internal_error: 500,
  provider_error: 502,
  chain_unavailable: 503,
  service_unavailable: 503,
  signing_off: 503,
} as const satisfies Record<ErrorCode, number>;

const CHALLENGE = 'Bearer realm="causeway", ApiKey realm="causeway"';
/** Retry-After of an outage, when the error has no better value. */
const OUTAGE_RETRY_SECONDS = 2;

/**
 * Converts anything thrown into the error that the caller may see. Unknown errors become a general
 * one; their cause is not sent.
 */
export const toDomainError = (error: unknown): DomainError => {
  if (isDomainError(error)) return error;
  const outage = outageOf(error);
  if (outage === "database")
    return new DomainError(
      "service_unavailable",
      "The database does not answer right now. What was accepted is safe; try again in a moment.",
      { cause: error, retryAfterSeconds: OUTAGE_RETRY_SECONDS },
    );
  if (outage === "chain")
    return new DomainError(
      "chain_unavailable",
      `${chainTroubleOf(error, "A chain")} Nothing was lost; try again shortly.`,
      {
        cause: error,
        retryAfterSeconds: OUTAGE_RETRY_SECONDS,
      },
    );
  return new DomainError(
    "internal_error",
    "Something went wrong on our side. Name the requestId when you report it; the same request may be sent again with its Idempotency-Key.",
    { cause: error },
  );
};

interface ProblemOptions {
  /** Origin of the service; without it links are relative. */
  readonly publicUrl?: string;
  /**
   * True when all input errors of this route are 400, instead of the usual status of their code.
   */
  readonly inputErrorsAs400?: boolean;
}

/** The page that explains a code; GET /errors/{code} answers it. */
export const docsUrl = (publicUrl: string, code: ErrorCode): string =>
  `${publicUrl}/api/errors/${code}`;

/**
 * Creates the error answer with its status and the body `{message, code, requestId, details?,
 * …extra, docsUrl}`.
 */
export const toAnswer = (
  error: DomainError,
  requestId: string,
  options: ProblemOptions = {},
): Answer => {
  const usual: number = STATUS_OF[error.code];
  const status = options.inputErrorsAs400 === true && usual === 422 ? 400 : usual;
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (status === 401) headers["www-authenticate"] = CHALLENGE;
  const retryAfterSeconds =
    error.retryAfterSeconds ?? (status === 503 ? OUTAGE_RETRY_SECONDS : undefined);
  if (retryAfterSeconds !== undefined)
    headers["retry-after"] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  const body = {
    ...error.extra,
    message: error.message,
    code: error.code,
    requestId,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    docsUrl: docsUrl(options.publicUrl ?? "", error.code),
  };
  // Details and extra fields may quote the text of another server, in which secrets are not
  // redacted yet.
  return { status, headers, body: redactKnownSecrets(JSON.stringify(body)) };
};

/**
 * The error answer for code outside of `route()`, with the same body and status as in `route()`.
 */
export const toResponse = (
  error: unknown,
  requestId: string,
  options: ProblemOptions = {},
): Response => {
  const answer = toAnswer(toDomainError(error), requestId, options);
  return new Response(answer.body, {
    status: answer.status,
    headers: { ...answer.headers, "x-request-id": requestId },
  });
};
