import { describe, expect, test } from "vitest";
import {
  amountForUsd,
  compareAmounts,
  dropBps,
  inverseOf,
  percentText,
  subtractAmounts,
  sumAmounts,
  toScaled,
  usdValue,
} from "./decimal";

describe("amounts", () => {
  test("add up exactly where floats do not", () => {
    expect(sumAmounts(["0.1", "0.2"])).toBe("0.3");
    expect(sumAmounts(["9007199254740993", "0.000000000000000001"])).toBe(
      "9007199254740993.000000000000000001",
    );
  });

  test("subtract exactly, also below zero", () => {
    expect(subtractAmounts("842.25", "262.25")).toBe("580");
    expect(subtractAmounts("0.1", "0.3")).toBe("-0.2");
  });

  test("of dollars are cut to the digits of the token, never rounded up", () => {
    expect(amountForUsd("200", "3000", 18)).toBe("0.066666666666666666");
    expect(amountForUsd("1", "0.9999", 6)).toBe("1.0001");
    expect(amountForUsd("1", null, 6)).toBeNull();
    expect(amountForUsd("1", "0", 6)).toBeNull();
  });

  test("a rate turns round; one of zero does not", () => {
    expect(inverseOf("0.0005")).toBe("2000");
    expect(inverseOf("0")).toBeNull();
  });

  test("that are still being typed count as nothing", () => {
    expect(sumAmounts(["1", "", "1."])).toBe("1");
    expect(toScaled("1e3", 6)).toBeNull();
  });

  test("compare by value, not by text", () => {
    expect(compareAmounts("10", "9.99")).toBe(1);
    expect(compareAmounts("1.50", "1.5")).toBe(0);
    expect(compareAmounts("-1", "0")).toBe(-1);
  });

  test("have a worth only where a price is known", () => {
    expect(usdValue("2.5", "1800.1")).toBe("4500.25");
    expect(usdValue("2.5", null)).toBeNull();
    expect(usdValue("", "1")).toBeNull();
  });
});

test("a loss is rounded up, so that it is never shown as nothing", () => {
  expect(dropBps("100", "99")).toBe(100);
  expect(dropBps("100", "99.999999")).toBe(1);
  expect(dropBps("100", "101")).toBe(0);
});

test("basis points are shown as per cent", () => {
  expect(percentText(50)).toBe("0.5 %");
  expect(percentText(1234)).toBe("12.34 %");
});
