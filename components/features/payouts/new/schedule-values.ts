import type { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";

export type SchedulePeriod = (typeof SCHEDULE_PERIODS)[number];

/**
 * When a payout runs. Times are local to the time zone, in the format of `datetime-local` inputs.
 */
export interface ScheduleValues {
  readonly startsAt: string;
  readonly every: SchedulePeriod | "once";
  readonly timeZone: string;
  /** Empty for a schedule without an end. */
  readonly endsAt: string;
}

export const PERIOD_WORDS = {
  once: "Once",
  day: "Every day",
  week: "Every week",
  month: "Every month",
} as const;

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
  const part = (type: string): number =>
    Number(parts.find((each) => each.type === type)?.value ?? 0);
  return Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
};

/**
 * The instant at which clocks in the time zone show `local`. A local time that a clock change skips
 * is shifted by the change.
 */
export const instantOf = (local: string, timeZone: string): Date | null => {
  const wanted = Date.parse(`${local}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(local) || Number.isNaN(wanted)) return null;
  const offsetAt = (at: number): number => wallClockOf(new Date(at), timeZone) - at;
  // The offset is read twice, because the first one can be wrong close to a clock change.
  const first = wanted - offsetAt(wanted);
  return new Date(wanted - offsetAt(first));
};

/** Formats an instant as local time of the zone, for example `2026-05-01T09:00`. */
export const localOf = (at: Date, timeZone: string): string =>
  new Date(wallClockOf(at, timeZone)).toISOString().slice(0, "2026-05-01T09:00".length);

export const browserTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const startProblem = (start: Date | null, now: number): string | undefined => {
  if (start === null) return "Enter a date and a time.";
  return start.getTime() < now + MINUTE_MS ? "Choose a time in the future." : undefined;
};

export const scheduleProblems = (
  values: ScheduleValues,
  now: number,
): { readonly startsAt?: string; readonly endsAt?: string } => {
  const start = instantOf(values.startsAt, values.timeZone);
  const end = endOf(values);
  const isTooEarly = end === null || (start !== null && end !== undefined && end <= start);
  const problems = {
    startsAt: startProblem(start, now),
    endsAt: isTooEarly ? "The end must be after the start." : undefined,
  };
  return Object.fromEntries(Object.entries(problems).filter(([, text]) => text !== undefined));
};

/** The end of a schedule: undefined when it never ends, null when the text is not a time. */
const endOf = ({ every, endsAt, timeZone }: ScheduleValues): Date | null | undefined =>
  every === "once" || endsAt === "" ? undefined : instantOf(endsAt, timeZone);

/** The times of the schedule for the request; null when the start is not a time. */
export const toSchedule = (
  values: ScheduleValues,
): { startsAt: string; every?: SchedulePeriod; timeZone: string; endsAt?: string } | null => {
  const start = instantOf(values.startsAt, values.timeZone);
  if (start === null) return null;
  return {
    startsAt: start.toISOString(),
    timeZone: values.timeZone,
    every: values.every === "once" ? undefined : values.every,
    endsAt: endOf(values)?.toISOString(),
  };
};
