import fc from "fast-check";
import { expect, test } from "vitest";
import { divide, parseDecimal, readDecimal, scaledTo, worthOf } from "./decimal";

test("reads decimal strings exactly, and nothing else", () => {
  expect(readDecimal("12.50")).toEqual({ digits: 1250n, scale: 2 });
  expect(readDecimal("-0.001")).toEqual({ digits: -1n, scale: 3 });
  for (const text of ["", ".5", "1.", "1e3", "0x1", "1,000", " 1", "NaN"])
    expect(readDecimal(text)).toBeNull();
  expect(() => parseDecimal("1e3")).toThrow("Not a decimal string.");
});

test("rounds down or up as it is told, below zero too", () => {
  expect([divide(7n, 2n, "floor"), divide(7n, 2n, "ceil")]).toEqual([3n, 4n]);
  expect([divide(-7n, 2n, "floor"), divide(-7n, 2n, "ceil")]).toEqual([-4n, -3n]);
  expect(scaledTo(parseDecimal("1.239"), 2, "floor")).toBe(123n);
  expect(scaledTo(parseDecimal("1.231"), 2, "ceil")).toBe(124n);
  expect(scaledTo(parseDecimal("1.2"), 6, "floor")).toBe(1_200_000n);
});

test("a worth rounded up is never less than the exact one, and at most one unit more than rounded down", () => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 10n ** 30n),
      fc.integer({ min: 0, max: 36 }),
      fc.bigInt(0n, 10n ** 12n),
      fc.integer({ min: 0, max: 24 }),
      (amountBase, decimals, digits, priceScale) => {
        const text = digits.toString().padStart(priceScale + 1, "0");
        const whole = text.slice(0, text.length - priceScale);
        const price = priceScale === 0 ? whole : `${whole}.${text.slice(-priceScale)}`;
        const of = { amountBase, decimals, price };
        const [down, up] = [worthOf(of, 6, "floor"), worthOf(of, 6, "ceil")];
        const exact = amountBase * digits * 10n ** 6n;
        const unit = 10n ** BigInt(decimals + priceScale);
        expect(down * unit <= exact && exact <= up * unit && up - down <= 1n).toBe(true);
      },
    ),
  );
});
