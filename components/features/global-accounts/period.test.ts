import { expect, test } from "vitest";
import { periodOf } from "./period";

const NOW = new Date("2026-01-15T23:30:00-05:00");
const NONE = { from: null, to: null };

test("the period of a statement begins with the first day of this month, in UTC", () => {
  expect(periodOf("this-month", NONE, NOW)).toEqual({ from: "2026-01-01T00:00:00.000Z" });
});

test("the period of a statement may be the whole month before, also over the turn of the year", () => {
  expect(periodOf("last-month", NONE, NOW)).toEqual({
    from: "2025-12-01T00:00:00.000Z",
    to: "2026-01-01T00:00:00.000Z",
  });
});

test("the period of a statement includes both chosen days whole", () => {
  expect(periodOf("custom", { from: "2026-02-27", to: "2026-02-28" }, NOW)).toEqual({
    from: "2026-02-27T00:00:00.000Z",
    to: "2026-03-01T00:00:00.000Z",
  });
});

test("there is no period where a day is missing or invalid, or the last day comes before the first", () => {
  for (const days of [
    NONE,
    { from: "2026-02-01", to: null },
    { from: "2026-02-31", to: "2026-03-02" },
    { from: "2026-03-02", to: "2026-03-01" },
  ])
    expect(periodOf("custom", days, NOW)).toBeNull();
});
