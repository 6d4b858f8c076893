import { describe, expect, test } from "vitest";
import {
  amountText,
  countText,
  isStable,
  shareText,
  sharesOf,
  currencyText,
} from "./amount-text";

const locale = "en";

describe("amountText", () => {
  test.each([
    ["120", "USDC", "120.00"],
    ["1250.123456", "USDC", "1,250.12"],
    ["0.005", "USDC", "0.01"],
    ["0.0049", "USDC", "< 0.01"],
    ["-0.004", "USDC", "> −0.01"],
    ["0", "USDC", "0.00"],
    ["999999999.999", "DAI", "1,000,000,000.00"],
    ["0.066630215", "WETH", "0.0666302"],
    ["34.2081", "ETH", "34.2081"],
    ["1234567.891", "ETH", "1,234,568"],
    ["0.000000000123456789", "ETH", "0.000000000123457"],
    ["0", "ETH", "0"],
    ["-12.500", "ETH", "−12.5"],
    ["0.9999999", "ETH", "1"],
  ])("%s %s is written %s", (value, symbol, text) => {
    expect(amountText(value, { symbol, locale }).text).toBe(text);
  });

  test("says every digit in `full`, and whether `text` says less", () => {
    expect(amountText("1250.123456", { symbol: "USDC", locale })).toEqual({
      text: "1,250.12",
      full: "1,250.123456",
      rounded: true,
    });
    expect(amountText("0.5", { symbol: "ETH", locale }).rounded).toBe(false);
    expect(amountText("12.5", { symbol: "USDC", locale })).toEqual({
      text: "12.50",
      full: "12.50",
      rounded: false,
    });
  });

  test("keeps every digit where the amount is approved", () => {
    expect(
      amountText("0.123456789012345678", { symbol: "DAI", exact: true, locale }).text,
    ).toBe("0.123456789012345678");
  });

  test("keeps zeros at the end in columns", () => {
    expect(amountText("0.5", { symbol: "ETH", padded: true, locale }).text).toBe("0.500000");
    expect(amountText("34.2081", { symbol: "ETH", padded: true, locale }).text).toBe("34.2081");
  });

  test("uses the separators of the locale", () => {
    expect(amountText("1234567.5", { symbol: "EURC", locale: "de" }).text).toBe("1.234.567,50");
    expect(amountText("1234567.5", { symbol: "USDC", locale: "en-IN" }).text).toBe(
      "12,34,567.50",
    );
  });

  test("is exact beyond what a float can hold", () => {
    expect(amountText("123456789012345678901234.56", { symbol: "USDC", locale }).text).toBe(
      "123,456,789,012,345,678,901,234.56",
    );
  });

  test("a sign stands before gains where changes are listed", () => {
    expect(amountText("5", { symbol: "USDC", signed: true, locale }).text).toBe("+5.00");
    expect(amountText("0", { symbol: "USDC", signed: true, locale }).text).toBe("0.00");
  });
});

test.each([
  ["1234.567", "$1,234.57"],
  ["0.001", "< $0.01"],
  ["-3.5", "−$3.50"],
  ["1000000", "$1,000,000.00"],
])("%s US dollars are written %s", (value, text) => {
  expect(currencyText(value, { locale }).text).toBe(text);
});

test("dollars have their place in the locale", () => {
  expect(currencyText("1234.5", { locale: "de" }).text.replace(/\s/g, " ")).toBe("1.234,50 $");
});

test("another currency has its own sign", () => {
  expect(currencyText("1234.5", { locale, currency: "EUR" }).text).toBe("€1,234.50");
  expect(currencyText("-0.001", { locale: "en-GB", currency: "GBP" }).text).toBe("> −£0.01");
});

test("counts have separators", () => {
  expect(countText(10_000, locale)).toBe("10,000");
});

test.each(["USDC", "USDC.e", "USDT", "USDbC", "DAI", "xDAI", "EURC", "PYUSD", "crvUSD", "USD"])(
  "%s is written like money",
  (symbol) => expect(isStable(symbol)).toBe(true),
);

test.each(["ETH", "WETH", "WBTC", "AERO", "ARB"])("%s is not written like money", (symbol) =>
  expect(isStable(symbol)).toBe(false),
);

describe("sharesOf", () => {
  test("adds up to the total, whatever the weights are", () => {
    let seed = 7;
    const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
    for (let round = 0; round < 500; round += 1) {
      const weights = Array.from({ length: 1 + (next() % 12) }, () =>
        BigInt(next() % 1_000_000),
      );
      const shares = sharesOf(weights, 1000);
      const sum = weights.reduce((all, weight) => all + weight, 0n);
      expect(shares.reduce((all, share) => all + share, 0)).toBe(sum === 0n ? 0 : 1000);
      // Each share is less than one step from the exact one.
      shares.forEach((share, index) => {
        const exact = sum === 0n ? 0 : (Number(weights[index] ?? 0n) / Number(sum)) * 1000;
        expect(Math.abs(share - exact)).toBeLessThan(1);
      });
    }
  });

  test("thirds are 33.4, 33.3 and 33.3", () => {
    expect(sharesOf([1n, 1n, 1n], 1000)).toEqual([334, 333, 333]);
  });

  test("nothing has no share", () => {
    expect(sharesOf([0n, 5n], 1000)).toEqual([0, 1000]);
    expect(sharesOf([0n, 0n], 1000)).toEqual([0, 0]);
  });
});

test("a share that is not nothing is never written as nothing", () => {
  expect(shareText(0, true, locale)).toBe("< 0.1 %");
  expect(shareText(0, false, locale)).toBe("0.0 %");
  expect(shareText(125, true, locale)).toBe("12.5 %");
});
