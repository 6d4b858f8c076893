import { expect, test } from "vitest";
import { dateText, distanceText } from "./time";

const NOW = new Date("2026-11-22T12:00:00Z");
const after = (seconds: number): string =>
  distanceText(new Date(NOW.getTime() + seconds * 1000), NOW.getTime());

test("a distance is told in the largest unit that it reaches, before and after now", () => {
  expect(
    [-12, -60, -89, -3600, -7200 - 60, -3 * 86_400, -50 * 86_400, -800 * 86_400].map(after),
  ).toEqual([
    "12 seconds ago",
    "1 minute ago",
    "1 minute ago",
    "1 hour ago",
    "2 hours ago",
    "3 days ago",
    "2 months ago",
    "2 years ago",
  ]);
  expect([90, 86_400].map(after)).toEqual(["in 2 minutes", "in 1 day"]);
});

test.each(["en-US", "de", "ar", "ja", "fa"])(
  "a reader of %s gets English months and Latin digits, with the hours of the locale",
  (locale) => {
    const at = new Date(2026, 10, 22, 15, 4);
    expect(dateText(at, "date", locale)).toBe("Nov 22, 2026");
    const time = ["en-US", "ar"].includes(locale) ? /^03:04.PM$/ : /^15:04$/;
    expect(dateText(at, "time", locale)).toMatch(time);
  },
);
