import fc from "fast-check";
import { expect, test } from "vitest";
import { storedNumber } from "./spreadsheet";

test.each([
  ["0", "0"],
  ["0.30000000000000004", "0.3"],
  ["3.3000000000000003", "3.3"],
  ["0.99999999999999989", "1"],
  ["123456.78000000001", "123456.78"],
  ["12345678.123456001", "12345678.123456"],
  ["0.10000000000000001", "0.1"],
  ["1E-7", "0.0000001"],
  ["1e21", "1000000000000000000000"],
  ["123456789.123456", "123456789.123456"],
  ["-12.5", "-12.5"],
  ["1000", "1000"],
  ["1.2500E+3", "1250"],
  ["123456789012345", "123456789012345"],
])("%s is %s", (text, plain) => {
  expect(storedNumber(text)).toEqual({ plain, cut: false });
});

test.each([
  "1234567890123456789",
  "9007199254740993",
  "1234567890123456",
  "10000000000000001",
  "0.1234567890123456",
  "33.333333333333336",
  "0.123456789012345678",
])("%s holds more than a spreadsheet keeps", (text) => {
  expect(storedNumber(text)).toEqual({ plain: text, cut: true });
});

test.each(["", "abc", "1,5", "NaN", "Infinity", ".", "1e999"])("%j is no number", (text) => {
  expect(storedNumber(text)).toBeNull();
});

test("up to 15 digits are kept as they are; of more, only the noise of 64 bits is left out", () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[1-9]\d{0,18}$/),
      fc.integer({ min: -18, max: 3 }),
      (text, exponent) => {
        const stored = storedNumber(`${text}e${String(exponent)}`);
        const significant = text.replace(/0+$/, "");
        const kept = (stored?.plain ?? "")
          .replace(".", "")
          .replace(/^0+/, "")
          .replace(/0+$/, "");
        if (significant.length <= 15 || stored?.cut === true) expect(kept).toBe(significant);
        else {
          const value = Number(`${text}e${String(exponent)}`);
          expect(Math.abs(Number(stored?.plain) - value)).toBeLessThanOrEqual(value * 2 ** -51);
          expect(text.length + exponent).toBeLessThanOrEqual(15);
        }
      },
    ),
  );
});
