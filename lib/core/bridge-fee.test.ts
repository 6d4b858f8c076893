import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fillCostUsd,
  fillGasOf,
  parseUsd,
  relayerMarginUsd,
  steadyStep,
  steppedUp,
} from "./fees";

const MARGIN = {
  marginUsd: "0.05",
  marginTiers: [{ upToUsd: "10000", bps: 4 }, { upToUsd: "100000", bps: 2 }, { bps: 1 }],
};

test.each([
  ["0", "0.05"],
  ["100", "0.09"],
  ["10000", "4.05"],
  ["10001", "4.0502"],
  ["100000", "22.05"],
  ["1000000", "112.05"],
])("of %s dollars the margin is %s: each tier charges its slice", (amount, margin) => {
  expect(relayerMarginUsd(MARGIN, parseUsd(amount))).toBe(parseUsd(margin));
});

test("the margin grows with the amount, and its share of the amount falls", () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 26n });
  fc.assert(
    fc.property(amount, amount, (one, other) => {
      const [small, large] = one < other ? [one, other] : [other, one];
      const [less, more] = [relayerMarginUsd(MARGIN, small), relayerMarginUsd(MARGIN, large)];
      expect(more).toBeGreaterThanOrEqual(less);
      // Each of the three slices is rounded up by less than one unit.
      expect(more * small).toBeLessThanOrEqual((less + 3n) * large);
    }),
  );
});

test.each([
  [0n, 1n],
  [1n, 1n],
  [100n, 100n],
  [101n, 125n],
  [161n, 200n],
  [801n, 1_000n],
  [999n, 1_000n],
  [1_006_331_654n, 1_250_000_000n],
])("%s is stepped up to %s", (value, step) => {
  expect(steppedUp(value)).toBe(step);
});

test("a step is never below its value, less than 28 % above it, and a step itself stays", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 100n, max: 10n ** 40n }), (value) => {
      const step = steppedUp(value);
      expect(step).toBeGreaterThanOrEqual(value);
      expect(step * 100n).toBeLessThan(value * 128n);
      expect(steppedUp(step)).toBe(step);
    }),
  );
});

test("a fill costs its gas at the destination's price, rounded up, and a message needs gas of its own", () => {
  const cost = { gas: 120_000n, gasPriceWei: 1_000_000_000n, coinUsd: parseUsd("3000") };
  expect(fillCostUsd(cost)).toBe(parseUsd("0.36"));
  expect(fillCostUsd({ gas: 1n, gasPriceWei: 1n, coinUsd: 1n })).toBe(1n);
  expect(fillGasOf({ fillGas: 120_000, messageGas: 200_000 }, false)).toBe(120_000n);
  expect(fillGasOf({ fillGas: 120_000, messageGas: 200_000 }, true)).toBe(320_000n);
});

test.each([
  ["the first value", 127n, undefined, 160n],
  ["a little above the step before", 131n, 125n, 125n],
  ["clearly above it", 132n, 125n, 160n],
  ["a little below the step's border", 124n, 160n, 160n],
  ["clearly below it", 118n, 160n, 125n],
  ["two steps below", 99n, 160n, 100n],
])("%s: %s after the step %s gives %s", (_, value, before, step) => {
  expect(steadyStep(value, before)).toBe(step);
});

test("a value that goes to and fro around a border keeps its step", () => {
  const middle = fc.bigInt({ min: 1_000n, max: 10n ** 30n });
  const shares = fc.array(fc.integer({ min: 976, max: 1_024 }));
  fc.assert(
    fc.property(middle, shares, (value, each) => {
      const first = steadyStep(value, undefined);
      let step = first;
      for (const share of each) step = steadyStep((value * BigInt(share)) / 1_000n, step);
      expect(step).toBe(first);
    }),
  );
});
