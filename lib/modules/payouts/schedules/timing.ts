/** Computes when a schedule runs: at the same local time of its time zone, also after changes to and from summer time. */

export type Period = "day" | "week" | "month";

export interface Timing {
  readonly startsAt: Date;
  /** Null: the schedule runs once. */
  readonly every: Period | null;
  /** IANA name. */
  readonly timeZone: string;
  /** The last moment at which it may run; null: no end. */
  readonly endsAt: Date | null;
}

/** A local time, encoded as the milliseconds since 1970 of the same date and time in UTC. */
type WallMs = number;

const DAY_MS = 24 * 60 * 60 * 1000;
const SECOND_MS = 1000;
const MONTHS_A_YEAR = 12;

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
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

/** The local time of the zone at an instant. */
const wallOf = (timeZone: string, at: Date): WallMs => {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return wall + (((at.getTime() % SECOND_MS) + SECOND_MS) % SECOND_MS);
};

const offsetMs = (timeZone: string, at: number): number => wallOf(timeZone, new Date(at)) - at;

/**
 * The instant of a local time. When the clock is set back the time occurs twice, and the earlier instant is taken. When the clock is set
 * forward over it the time does not occur, and the instant is later by the length of that change.
 */
export const instantOf = (timeZone: string, wall: WallMs): Date => {
  const before = wall - offsetMs(timeZone, wall - DAY_MS);
  const after = wall - offsetMs(timeZone, wall + DAY_MS);
  const right = [before, after].filter((at) => at + offsetMs(timeZone, at) === wall);
  return new Date(right.length === 0 ? before : Math.min(...right));
};

/** The same time of day `months` later; on the last day when that month is too short. */
const monthsLater = (wall: WallMs, months: number): WallMs => {
  const from = new Date(wall);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + (((wall % DAY_MS) + DAY_MS) % DAY_MS);
};

/** The time of run `n`, where 0 is the first. Computed from the start, so that a run on the 31st returns to the 31st after February. */
export const runAt = ({ startsAt, every, timeZone }: Timing, n: number): Date => {
  if (every === null || n === 0) return startsAt;
  const start = wallOf(timeZone, startsAt);
  if (every === "month") return instantOf(timeZone, monthsLater(start, n));
  return instantOf(timeZone, start + n * (every === "week" ? 7 : 1) * DAY_MS);
};

/** A lower bound of the number of runs before an instant, where the search for the next run begins. */
const runsBefore = ({ startsAt, every }: Timing, at: Date): number => {
  const days = (at.getTime() - startsAt.getTime()) / DAY_MS;
  const months =
    (at.getUTCFullYear() - startsAt.getUTCFullYear()) * MONTHS_A_YEAR + at.getUTCMonth() - startsAt.getUTCMonth();
  const about = every === "month" ? months : Math.floor(days / (every === "week" ? 7 : 1));
  return Math.max(0, about - 2);
};

/** The first run after an instant; null when there is none. */
export const nextRunAfter = (timing: Timing, after: Date): Date | null => {
  const isIn = (at: Date): boolean => timing.endsAt === null || at <= timing.endsAt;
  if (timing.startsAt > after) return isIn(timing.startsAt) ? timing.startsAt : null;
  if (timing.every === null) return null;
  let n = runsBefore(timing, after);
  while (runAt(timing, n) <= after) n += 1;
  const at = runAt(timing, n);
  return isIn(at) ? at : null;
};
