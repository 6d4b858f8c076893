import type { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";

export type SchedulePeriod = (typeof SCHEDULE_PERIODS)[number];

/** When a payout runs; times as `<input type="datetime-local">` gives them, in the time zone. */
export interface ScheduleValues {
  readonly startsAt: string;
  readonly every: SchedulePeriod | "once";
  readonly timeZone: string;
  /** Empty: it never ends by itself. */
  readonly endsAt: string;
}

export const PERIOD_WORDS = { once: "Once", day: "Every day", week: "Every week", month: "Every month" } as const;

const MINUTE_MS = 60_000;

const wallClockOf = (at: Date, timeZone: string): number => {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(at);
  const part = (type: string): number => Number(parts.find((each) => each.type === type)?.value ?? 0);
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
};

/** The moment at which clocks of the zone show `local`; a time that a clock change skips is moved on by that change. */
export const instantOf = (local: string, timeZone: string): Date | null => {
  const wanted = Date.parse(`${local}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local) || Number.isNaN(wanted)) return null;
  const offsetAt = (at: number): number => wallClockOf(new Date(at), timeZone) - at;
  // The second look settles times close to a clock change.
  const first = wanted - offsetAt(wanted);
  return new Date(wanted - offsetAt(first));
};

/** Formats a moment as local time of the zone, for example `2026-05-01T09:00`. */
export const localOf = (at: Date, timeZone: string): string =>
  new Date(wallClockOf(at, timeZone)).toISOString().slice(0, "2026-05-01T09:00".length);

export const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export const scheduleProblems = (
  values: ScheduleValues,
  now: number,
): Readonly<Partial<Record<"startsAt" | "endsAt", string>>> => {
  const start = instantOf(values.startsAt, values.timeZone);
  const end = values.endsAt === "" ? null : instantOf(values.endsAt, values.timeZone);
  return {
    ...(start === null
      ? { startsAt: "Enter a date and a time." }
      : start.getTime() < now + MINUTE_MS
        ? { startsAt: "Choose a time in the future." }
        : {}),
    ...(values.endsAt !== "" && values.every !== "once" && (end === null || (start !== null && end <= start))
      ? { endsAt: "The end must be after the start." }
      : {}),
  };
};

/** The part of the request that says when. */
export const toSchedule = (
  values: ScheduleValues,
): { startsAt: string; every?: SchedulePeriod; timeZone: string; endsAt?: string } | null => {
  const start = instantOf(values.startsAt, values.timeZone);
  if (start === null) return null;
  const end = values.every === "once" || values.endsAt === "" ? null : instantOf(values.endsAt, values.timeZone);
  return {
    startsAt: start.toISOString(),
    timeZone: values.timeZone,
    ...(values.every === "once" ? {} : { every: values.every }),
    ...(end === null ? {} : { endsAt: end.toISOString() }),
  };
};
