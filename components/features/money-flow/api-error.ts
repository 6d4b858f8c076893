import { ApiError } from "@/lib/api-client/client";

/**
 * A field of an error's body beyond the usual ones, such as the fresh `quote` of
 * `quote_price_moved`.
 */
export const extraOf = (error: unknown, field: string): unknown =>
  error instanceof ApiError && typeof error.body === "object" && error.body !== null
    ? (error.body as Record<string, unknown>)[field]
    : undefined;

export const codeOf = (error: unknown): string | null =>
  error instanceof ApiError ? error.code : null;

export const detailsOf = (error: unknown): ApiError["details"] =>
  error instanceof ApiError ? error.details : [];

const REFUSED_PROOF: ReadonlySet<string | null> = new Set([
  "otp_required",
  "otp_invalid",
  "otp_expired",
  "otp_attempts_exceeded",
  "invalid_signature",
]);

/** Whether the person has to give another proof after this error. */
export const isRefusedProof = (error: unknown): boolean => REFUSED_PROOF.has(codeOf(error));
