const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses before the second and later attempts. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const JITTER = 0.2;
const RETRY_AFTER_MAX_MS = 24 * HOUR;

/** How long an attempt that fails may hold back later events of the same object. */
export const HOLD_BACK_MS = 5 * MINUTE;
/** After so long without a success an endpoint is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR;

/** The delay of a `Retry-After` header (RFC 9110: seconds or a date) in milliseconds; null when it cannot be parsed. */
export const retryAfterMs = (header: string | undefined, now: Date): number | null => {
  if (header === undefined) return null;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * SECOND : Date.parse(header) - now.getTime();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : null;
};

/**
 * The time of the next attempt after this many attempts; null when there is none. A random part of up to a fifth is added, so that
 * deliveries that failed together are not repeated together.
 */
export const nextAttempt = (
  attempts: number,
  {
    now,
    random,
    retryAfter,
  }: { readonly now: Date; readonly random: () => number; readonly retryAfter: number | null },
): Date | null => {
  const delay = RETRY_DELAYS_MS[attempts - 1];
  if (delay === undefined) return null;
  return new Date(now.getTime() + Math.max(Math.round(delay * (1 + JITTER * random())), retryAfter ?? 0));
};
