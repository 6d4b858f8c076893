import { expect, test } from "vitest";
import {
  instantOf,
  localOf,
  scheduleProblems,
  toSchedule,
  type ScheduleValues,
} from "./schedule-values";

const values = (part: Partial<ScheduleValues>): ScheduleValues => ({
  ...{ startsAt: "2026-05-01T09:00", every: "month", timeZone: "Europe/Berlin", endsAt: "" },
  ...part,
});

test.each([
  ["2026-01-15T09:00", "Europe/Berlin", "2026-01-15T08:00:00.000Z"],
  ["2026-07-15T09:00", "Europe/Berlin", "2026-07-15T07:00:00.000Z"],
  // The night of the change to summer time: 02:30 is skipped.
  ["2026-03-29T01:30", "Europe/Berlin", "2026-03-29T00:30:00.000Z"],
  ["2026-03-29T03:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"],
  ["2026-10-25T04:00", "Europe/Berlin", "2026-10-25T03:00:00.000Z"],
  ["2026-05-01T09:00", "Pacific/Auckland", "2026-04-30T21:00:00.000Z"],
  ["2026-05-01T09:00", "UTC", "2026-05-01T09:00:00.000Z"],
])("%s in %s is %s", (local, zone, instant) => {
  expect(instantOf(local, zone)?.toISOString()).toBe(instant);
  expect(localOf(new Date(instant), zone)).toBe(local);
});

test("a start in the past, no start, and an end before the start are named", () => {
  const now = Date.parse("2026-04-01T00:00:00Z");
  expect(scheduleProblems(values({}), now)).toEqual({});
  expect(scheduleProblems(values({ startsAt: "" }), now)).toEqual({
    startsAt: "Enter a date and a time.",
  });
  expect(scheduleProblems(values({ startsAt: "2026-03-01T09:00" }), now)).toEqual({
    startsAt: "Choose a time in the future.",
  });
  expect(scheduleProblems(values({ endsAt: "2026-05-01T08:00" }), now)).toEqual({
    endsAt: "The end must be after the start.",
  });
  expect(scheduleProblems(values({ endsAt: "2026-05-01T08:00", every: "once" }), now)).toEqual(
    {},
  );
});

test("a payout that runs once has no period and no end", () => {
  expect(toSchedule(values({ every: "once", endsAt: "2026-09-01T09:00" }))).toEqual({
    startsAt: "2026-05-01T07:00:00.000Z",
    timeZone: "Europe/Berlin",
  });
  expect(toSchedule(values({ endsAt: "2026-12-01T09:00" }))).toEqual({
    startsAt: "2026-05-01T07:00:00.000Z",
    timeZone: "Europe/Berlin",
    every: "month",
    endsAt: "2026-12-01T08:00:00.000Z",
  });
});
