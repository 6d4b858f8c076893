import { expect, test } from "vitest";
import { formatUsd, parseUsd, usdToTokenCeil } from "./price";

test.each([
  ["1", "1"],
  ["2998.5", "2998.5"],
  ["2998.123456789", "2998.123456"],
  ["0.000012345678", "0.0000123456"],
  ["0.000000000000000001", "0.000000000000000001"],
  ["0", "0"],
])("a price of %s dollars is written %s", (usd, text) => {
  expect(formatUsd(parseUsd(usd))).toBe(text);
});

test("a fee in dollars is rounded up in the token", () => {
  expect(usdToTokenCeil(parseUsd("0.05"), parseUsd("1"), 6)).toBe(50_000n);
  expect(usdToTokenCeil(parseUsd("1"), parseUsd("3"), 6)).toBe(333_334n);
  expect(usdToTokenCeil(parseUsd("0"), parseUsd("3"), 18)).toBe(0n);
});
