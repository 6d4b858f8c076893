import { expect, test } from "vitest";
import { DATE_PRESETS } from "./date-presets";

const now = new Date(2028, 2, 31, 15, 30);

test.each([
  ["Today", "2028-03-31", "2028-03-31"],
  ["Last 7 days", "2028-03-25", "2028-03-31"],
  ["Last 30 days", "2028-03-02", "2028-03-31"],
  ["This month", "2028-03-01", "2028-03-31"],
  ["Last month", "2028-02-01", "2028-02-29"],
  ["This year", "2028-01-01", "2028-12-31"],
])("%s is %s to %s", (label, from, to) => {
  expect(DATE_PRESETS.find((preset) => preset.label === label)?.range(now)).toEqual({ from, to });
});
