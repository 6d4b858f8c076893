import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instantOf, isTimeZone, nextRunAfter, runAt, type Period, type Timing } from "./timing";

const at = (text: string): Date => new Date(text);
const timing = (
  startsAt: string,
  every: Timing["every"],
  timeZone = "UTC",
  endsAt?: string,
): Timing => ({
  startsAt: at(startsAt),
  every,
  timeZone,
  endsAt: endsAt === undefined ? null : at(endsAt),
});
const runs = (of: Timing, count: number): string[] =>
  Array.from({ length: count }, (_, n) => runAt(of, n).toISOString().slice(0, 16));

describe("a schedule in local time", () => {
  test("keeps its time of day when summer time begins and ends", () => {
    // Berlin: clocks go forward on 2026-03-29 and back on 2026-10-25.
    expect(runs(timing("2026-03-27T08:00:00Z", "day", "Europe/Berlin"), 4)).toEqual([
      "2026-03-27T08:00",
      "2026-03-28T08:00",
      "2026-03-29T07:00",
      "2026-03-30T07:00",
    ]);
    expect(runs(timing("2026-10-18T07:00:00Z", "week", "Europe/Berlin"), 3)).toEqual([
      "2026-10-18T07:00",
      "2026-10-25T08:00",
      "2026-11-01T08:00",
    ]);
  });

  test("runs once on a day on which its local time does not exist or occurs twice", () => {
    // 02:30 in Berlin: skipped on 2026-03-29, and there twice on 2026-10-25.
    expect(runs(timing("2026-03-28T01:30:00Z", "day", "Europe/Berlin"), 3)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:30", // 03:30 there
      "2026-03-30T00:30",
    ]);
    expect(runs(timing("2026-10-24T00:30:00Z", "day", "Europe/Berlin"), 3)).toEqual([
      "2026-10-24T00:30",
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
  });

  test("runs on the last day of months that are too short, and returns to its own day", () => {
    expect(runs(timing("2027-12-31T12:00:00Z", "month"), 5)).toEqual([
      "2027-12-31T12:00",
      "2028-01-31T12:00",
      "2028-02-29T12:00",
      "2028-03-31T12:00",
      "2028-04-30T12:00",
    ]);
    // The 31st in Tokyo is the 30th in UTC.
    expect(runs(timing("2026-12-30T15:30:00Z", "month", "Asia/Tokyo"), 3)).toEqual([
      "2026-12-30T15:30",
      "2027-01-30T15:30",
      "2027-02-27T15:30",
    ]);
  });

  test("handles clock changes of half an hour, and days that a time zone skipped", () => {
    expect(runs(timing("2026-04-03T23:00:00Z", "day", "Australia/Lord_Howe"), 3)).toEqual([
      "2026-04-03T23:00",
      "2026-04-04T23:30",
      "2026-04-05T23:30",
    ]);
    // Samoa had no 30 December 2011.
    expect(instantOf("Pacific/Apia", Date.UTC(2011, 11, 30, 12)).toISOString()).toBe(
      "2011-12-30T22:00:00.000Z",
    );
  });

  test("ends with its last run at or before its end; one without a period runs once", () => {
    const ending = timing("2026-01-01T00:00:00Z", "day", "UTC", "2026-01-02T00:00:00Z");
    expect(nextRunAfter(ending, at("2026-01-01T00:00:00Z"))).toEqual(
      at("2026-01-02T00:00:00Z"),
    );
    expect(nextRunAfter(ending, at("2026-01-02T00:00:00Z"))).toBeNull();
    const once = timing("2026-01-01T00:00:00Z", null);
    expect(nextRunAfter(once, at("2025-01-01T00:00:00Z"))).toEqual(once.startsAt);
    expect(nextRunAfter(once, once.startsAt)).toBeNull();
    expect([isTimeZone("Europe/Berlin"), isTimeZone("Mars/Olympus")]).toEqual([true, false]);
  });

  test("neither skips nor repeats a run, in any time zone and from any start", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
    );
    const periods = fc.constantFrom<Period>("day", "week", "month");
    const starts = fc.date({
      min: at("2020-01-01T00:00:00Z"),
      max: at("2040-01-01T00:00:00Z"),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(
        zones,
        periods,
        starts,
        fc.integer({ min: 0, max: 400 }),
        (timeZone, every, startsAt, n) => {
          const one: Timing = { startsAt, every, timeZone, endsAt: null };
          const [here, next] = [runAt(one, n), runAt(one, n + 1)];
          expect(next.getTime()).toBeGreaterThan(here.getTime());
          expect(nextRunAfter(one, here)).toEqual(next);
          expect(nextRunAfter(one, new Date(next.getTime() - 1))).toEqual(next);
        },
      ),
      { numRuns: 300 },
    );
  });
});
