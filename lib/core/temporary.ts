import { isDomainError, type DomainError, type ErrorCode } from "./errors";

const TEMPORARY = new Set<ErrorCode>(["chain_unavailable", "provider_error", "signing_off"]);

/**
 * Whether a step of a move of money should be tried again after this error: a chain or a provider does not answer, or nothing may be signed
 * now. Every other error is a bug.
 */
export const isTemporary = (error: unknown): error is DomainError => isDomainError(error) && TEMPORARY.has(error.code);
