import { expect, test } from "vitest";
import { convertUsd } from "./currencies";

test.each([
  ["108.43", "1.0843", "100"],
  ["0", "1.0843", "0"],
  ["-50", "1.25", "-40"],
  ["1", "3", "0.33333333"],
  ["2", "3", "0.66666667"],
  ["-2", "3", "-0.66666667"],
  ["0.00000001", "2", "0.00000001"],
  ["123456789012345678901234.5", "0.5", "246913578024691357802469"],
])("%s US dollars at %s are %s", (usd, rate, converted) => {
  expect(convertUsd(usd, rate)).toBe(converted);
});

test("a text that is no number and a rate of zero are errors", () => {
  expect(() => convertUsd("1e3", "1")).toThrow("Not a decimal string.");
  expect(() => convertUsd("1", "0")).toThrow();
});
