import { expect, test } from "vitest";
import { shortenAmount } from "./shorten-amount";

test.each([
  ["0", 6, "0", false],
  ["1234567.5", 6, "1,234,567.5", false],
  ["0.1234567", 6, "0.123456", true],
  ["-12.5000000000", 6, "−12.5", false],
  ["999.999", 2, "999.99", true],
  ["0.0000001", 6, "0.000000", true],
])("%s is cut to %i digits, never rounded", (value, digits, text, cut) => {
  expect(shortenAmount(value, digits)).toEqual({ text, cut });
});
