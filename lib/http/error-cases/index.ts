/**
 * Meanings of error codes that depend on the operation. For such an operation the OpenAPI document
 * shows them instead of the guide's general line.
 */
import type { ErrorCode } from "@/lib/core/errors";
import { ACCESS_CASES } from "./access";
import { MONEY_CASES } from "./money";
import type { Cases } from "./shared";

/**
 * Codes whose reason depends on the operation. Each operation that declares one of the codes has a
 * case for it. A test checks this.
 */
export const CODES_WITH_CASES = [
  "invalid_state",
  "forbidden",
  "insufficient_balance",
  "invalid_signature",
  "otp_required",
  "provider_error",
  "rate_limited",
  "unauthorized",
] as const satisfies readonly ErrorCode[];

/** Error cases by the operation's `operationId` in the OpenAPI document, then by error code. */
export const ERROR_CASES: Readonly<Record<string, Cases>> = { ...ACCESS_CASES, ...MONEY_CASES };
