import { describe, expect, test } from "vitest";
import { impactGate, impactOf, isWorse, mustAccept } from "./quote-change";
import type { Quote } from "./tokens";

const quote = (amountBase: string, minAmountBase: string): Quote =>
  ({
    quoteId: `qt_${amountBase}`,
    priceImpactBps: 0,
    to: { amountBase, minAmountBase },
  }) as Quote;

describe("a refreshed quote", () => {
  const seen = { key: "a", quote: quote("1000", "990") };

  test("that promises or expects one base unit less is worse", () => {
    expect(isWorse(seen.quote, quote("1000", "989"))).toBe(true);
    expect(isWorse(seen.quote, quote("999", "990"))).toBe(true);
  });

  test("that is equal or better takes its place by itself", () => {
    expect(mustAccept(seen, { key: "a", quote: quote("1000", "990") })).toBe(false);
    expect(mustAccept(seen, { key: "a", quote: quote("1001", "991") })).toBe(false);
  });

  test("that is worse must be accepted", () => {
    expect(mustAccept(seen, { key: "a", quote: quote("999", "989") })).toBe(true);
  });

  test("of another request needs no acceptance", () => {
    expect(mustAccept(seen, { key: "b", quote: quote("1", "1") })).toBe(false);
    expect(mustAccept(null, { key: "a", quote: quote("1", "1") })).toBe(false);
  });

  test("compares amounts beyond what floats can tell apart", () => {
    expect(isWorse(quote("9007199254740993", "1"), quote("9007199254740992", "1"))).toBe(true);
  });
});

test("a price impact over 3 % asks once, over 15 % it must be typed", () => {
  expect([300, 301, 1500, 1501].map(impactGate)).toEqual([
    "none",
    "confirm",
    "confirm",
    "type",
  ]);
});

test("the price feeds' price impact counts, and the pools' only where a feed is missing", () => {
  expect(impactOf({ oracleImpactBps: 900, priceImpactBps: 5 })).toBe(900);
  expect(impactOf({ oracleImpactBps: null, priceImpactBps: 5 })).toBe(5);
});
