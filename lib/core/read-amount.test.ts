import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { groupedAmount, readAmount, typedAmount } from "./read-amount";

describe("an amount is read as the locale writes it", () => {
  test.each([
    ["1,000", "en", "1000"],
    ["1,000.50", "en", "1000.50"],
    [".5", "en", "0.5"],
    ["5.", "en", "5"],
    ["1,00,000.50", "en", "100000.50"],
    ["1,00,000", "hi", "100000"],
    ["1 000,50", "de", "1000.50"],
    ["1.000,50", "de", "1000.50"],
    ["1\u202f000,5", "fr", "1000.5"],
    ["1'000.50", "de-CH", "1000.50"],
    ["1,000,000", "en", "1000000"],
    ["12,34", "en", "12.34"],
    ["0,001", "en", "0.001"],
  ])("%j in %s is %s", (text, locale, value) => {
    expect(readAmount(text, locale)).toBe(value);
  });

  test("a text that allows two readings has that of the locale", () => {
    expect(readAmount("1,234", "en")).toBe("1234");
    expect(readAmount("1,234", "de")).toBe("1.234");
    expect(readAmount("1.234", "de")).toBe("1234");
    expect(readAmount("1.234", "en")).toBe("1.234");
  });

  test("with both marks the last is the decimal one, in every locale", () => {
    for (const locale of ["en", "de", "fr"]) {
      expect(readAmount("1.234,5", locale)).toBe("1234.5");
      expect(readAmount("1,234.5", locale)).toBe("1234.5");
    }
  });

  test.each([
    "",
    " ",
    ".",
    ",",
    "007.10",
    "12 50",
    "1 00,000",
    "1.00.000",
    "1\t000",
    "1.2.3",
    "1,2.3,4",
    "12,34.5",
    "-1",
    "+1",
    "1e3",
    "5 USDC",
    "1,000,00",
  ])("%j is no amount", (text) => {
    expect(readAmount(text, "en")).toBeNull();
  });
});

test("what a form fills in by itself is read back as the same amount", () => {
  const amounts = fc.tuple(
    fc.bigInt({ min: 0n, max: 10n ** 24n }),
    fc.option(fc.stringMatching(/^\d{1,18}$/)),
  );
  fc.assert(
    fc.property(
      amounts,
      fc.constantFrom("en", "de", "fr", "de-CH", "sv", "hi"),
      ([whole, fraction], locale) => {
        const value = fraction === null ? String(whole) : `${String(whole)}.${fraction}`;
        expect(readAmount(typedAmount(value, locale), locale)).toBe(value);
      },
    ),
  );
});

test("the read value is shown in groups, whole", () => {
  expect(groupedAmount("1234567.000100", "en")).toBe("1,234,567.000100");
  expect(groupedAmount("1234.5", "de")).toBe("1.234,5");
});
