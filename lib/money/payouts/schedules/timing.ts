/**
 * Computes the times at which a schedule runs. All runs are at the same local time in the
 * schedule's time zone, also after changes to and from daylight saving time.
 */

export type Period = "day" | "week" | "month";

export interface Timing {
  readonly startsAt: Date;
  /** The period between two runs. Null: the schedule runs once. */
  readonly every: Period | null;
  /** IANA name of the time zone, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** The latest time at which the schedule may run. Null: the schedule has no end. */
  readonly endsAt: Date | null;
}

/**
 * A local time, encoded as the milliseconds since 1970 of the UTC time with equal date and time of
 * day.
 */
type WallMs = number;

const DAY_MS = 24 * 60 * 60 * 1000;
const SECOND_MS = 1000;
const MONTHS_A_YEAR = 12;

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const cached = formats.get(timeZone);
  if (cached !== undefined) return cached;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(timeZone, format);
  return format;
};

export const isTimeZone = (timeZone: string): boolean => {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
};

const wallOf = (timeZone: string, at: Date): WallMs => {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const wall = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  return wall + (((at.getTime() % SECOND_MS) + SECOND_MS) % SECOND_MS);
};

const offsetMs = (timeZone: string, at: number): number => wallOf(timeZone, new Date(at)) - at;

/**
 * Converts a local time to an instant. When the clock is set back, a local time occurs twice; the
 * earlier instant is returned. When the clock is set forward, some local times do not occur; the
 * returned instant is then later by the length of the change.
 */
export const instantOf = (timeZone: string, wall: WallMs): Date => {
  const before = wall - offsetMs(timeZone, wall - DAY_MS);
  const after = wall - offsetMs(timeZone, wall + DAY_MS);
  const right = [before, after].filter((at) => at + offsetMs(timeZone, at) === wall);
  return new Date(right.length === 0 ? before : Math.min(...right));
};

/**
 * Adds months to a local time without changing the time of day. Uses the last day of the month when
 * the month has no such day.
 */
const monthsLater = (wall: WallMs, months: number): WallMs => {
  const from = new Date(wall);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return (
    Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) +
    (((wall % DAY_MS) + DAY_MS) % DAY_MS)
  );
};

/**
 * Returns the time of run `n`; the first run is 0. Computes each run from the start, so that a
 * schedule on the 31st returns to the 31st after February.
 */
export const runAt = ({ startsAt, every, timeZone }: Timing, n: number): Date => {
  if (every === null || n === 0) return startsAt;
  const start = wallOf(timeZone, startsAt);
  if (every === "month") return instantOf(timeZone, monthsLater(start, n));
  return instantOf(timeZone, start + n * (every === "week" ? 7 : 1) * DAY_MS);
};

/**
 * Returns a lower bound of the number of runs before an instant, at which the search for the next
 * run begins, so that the search needs few steps.
 */
const runsBefore = ({ startsAt, every }: Timing, at: Date): number => {
  const days = (at.getTime() - startsAt.getTime()) / DAY_MS;
  const months =
    (at.getUTCFullYear() - startsAt.getUTCFullYear()) * MONTHS_A_YEAR +
    at.getUTCMonth() -
    startsAt.getUTCMonth();
  const about = every === "month" ? months : Math.floor(days / (every === "week" ? 7 : 1));
  return Math.max(0, about - 2);
};

/** Returns the time of the first run after an instant; null when there is none. */
export const nextRunAfter = (timing: Timing, after: Date): Date | null => {
  const isIn = (at: Date): boolean => timing.endsAt === null || at <= timing.endsAt;
  if (timing.startsAt > after) return isIn(timing.startsAt) ? timing.startsAt : null;
  if (timing.every === null) return null;
  let n = runsBefore(timing, after);
  while (runAt(timing, n) <= after) n += 1;
  const at = runAt(timing, n);
  return isIn(at) ? at : null;
};
