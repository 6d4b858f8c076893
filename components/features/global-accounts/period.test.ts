import { describe, expect, test } from "vitest";
import { periodOf } from "./period";

const NOW = new Date("2026-01-15T23:30:00-05:00");
const NONE = { from: null, to: null };

describe("the period of a statement", () => {
  test("is this month so far, in UTC", () => {
    expect(periodOf("this-month", NONE, NOW)).toEqual({ from: "2026-01-01T00:00:00.000Z" });
  });

  test("is the whole month before, also over the turn of the year", () => {
    expect(periodOf("last-month", NONE, NOW)).toEqual({
      from: "2025-12-01T00:00:00.000Z",
      to: "2026-01-01T00:00:00.000Z",
    });
  });

  test("has both days that were chosen whole", () => {
    expect(periodOf("custom", { from: "2026-02-27", to: "2026-02-28" }, NOW)).toEqual({
      from: "2026-02-27T00:00:00.000Z",
      to: "2026-03-01T00:00:00.000Z",
    });
  });

  test("is none where a day is missing, is no day, or the last comes before the first", () => {
    for (const days of [
      NONE,
      { from: "2026-02-01", to: null },
      { from: "2026-02-31", to: "2026-03-02" },
      { from: "2026-03-02", to: "2026-03-01" },
    ])
      expect(periodOf("custom", days, NOW)).toBeNull();
  });
});
