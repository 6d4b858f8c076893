import { expect, test } from "vitest";
import { isMoreUsd, plainUsd } from "./usd";

test("amounts are compared by value, not as text", () => {
  expect(isMoreUsd("1000", "999.999999")).toBe(true);
  expect(isMoreUsd("1000.000001", "1000")).toBe(true);
  expect(isMoreUsd("1000.000000", "1000")).toBe(false);
  expect(isMoreUsd("999999999999999999", "1000000000000000000")).toBe(false);
  expect(() => isMoreUsd("1e3", "1")).toThrow();
});

test.each([
  ["0", "0"],
  ["0.000000", "0"],
  ["0.10", "0.1"],
  ["1000.00", "1000"],
  ["100", "100"],
  ["0.000001", "0.000001"],
])("%s is written as %s", (usd, plain) => {
  expect(plainUsd(usd)).toBe(plain);
});
