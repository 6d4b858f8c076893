import { expect, test } from "vitest";
import { coverageTenths, coverageText } from "./coverage";

const reserve = (onChain: string, committed: string, liabilities: string) => ({
  onChain,
  committed,
  liabilities,
});

test.each([
  ["100 %", reserve("300", "0", "300"), "100.0 %"],
  [
    "a ratio that is rounded down, never up to 100 %",
    reserve("299.999999", "0", "300"),
    "99.9 %",
  ],
  ["what operations take out, which does not count", reserve("300", "150", "300"), "50.0 %"],
  ["more taken out than there is", reserve("100", "150", "300"), "0.0 %"],
  ["a very large ratio", reserve("1000000", "0", "0.01"), "> 9,999 %"],
])("coverage shows %s", (_what, given, text) => {
  expect(coverageText(coverageTenths(given) ?? -1n)).toBe(text);
});

test("without accounts there is no ratio", () => {
  expect(coverageTenths(reserve("10", "0", "0"))).toBeNull();
});
