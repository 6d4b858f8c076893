import { expect, test } from "vitest";
import { axisMoney } from "./chart-looks";

test.each([
  [0, "$0"],
  [9_999, "$9,999"],
  [10_000, "$10K"],
  [12_540, "$12.5K"],
  [3_000_000, "$3M"],
  [4_210_000_000, "$4.2B"],
])("an axis says %d dollars as %s", (value, text) => {
  expect(axisMoney(value, "USD", "en-US")).toBe(text);
});

test("the separators of an axis are the locale's, and its units are English", () => {
  expect(axisMoney(12_540, "USD", "de").replace(/\s/g, " ")).toBe("12,5K $");
  expect(axisMoney(12_540, "EUR", "ar")).toContain("K");
});
