/** The current time, as a dependency that tests replace. */
export interface Clock {
  now(): Date;
}

/** The clock of the operating system. */
export const systemClock: Clock = { now: () => new Date() };

/** The moment `seconds` after `date`; before it when `seconds` is negative. */
export const addSeconds = (date: Date, seconds: number): Date => new Date(date.getTime() + seconds * 1000);
