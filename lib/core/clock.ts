/** The current time, as a dependency that tests replace. */
export interface Clock {
  now(): Date;
}

/** The clock of the operating system. */
export const systemClock: Clock = { now: () => new Date() };

/** The time `seconds` after `date`, or before it when `seconds` is negative. */
export const addSeconds = (date: Date, seconds: number): Date =>
  new Date(date.getTime() + seconds * 1000);

/**
 * Whole seconds from `now` until `later`, rounded up and at least 1, for `Retry-After` (RFC 9110),
 * where 0 would mean "at once".
 */
export const secondsUntil = (later: Date, now: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - now.getTime()) / 1000));

const DAILY_HOUR = 7;
export const DAY_MS = 24 * 3_600_000;

/** The next 07:00 UTC after `now`, when daily mails are sent. */
export const nextDaily = (now: Date): Date => {
  const today = new Date(
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), DAILY_HOUR),
  );
  return today > now ? today : new Date(today.getTime() + DAY_MS);
};
