/** The current time, as a dependency that tests replace. */
export interface Clock {
  now(): Date;
}

/** The clock of the operating system. */
export const systemClock: Clock = { now: () => new Date() };

/** The moment `seconds` after `date`; before it when `seconds` is negative. */
export const addSeconds = (date: Date, seconds: number): Date => new Date(date.getTime() + seconds * 1000);

/** Whole seconds from `now` until `later`, rounded up and at least 1: for `Retry-After` (RFC 9110), where 0 would mean at once. */
export const secondsUntil = (later: Date, now: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - now.getTime()) / 1000));
