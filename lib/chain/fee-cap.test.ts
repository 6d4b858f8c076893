import { expect, test } from "vitest";
import { capFees } from "./fees";

const GWEI = 1_000_000_000n;
/** A base fee of 20 gwei and a tip of 2. */
const suggested = {
  maxFeePerGas: 42n * GWEI,
  maxPriorityFeePerGas: 2n * GWEI,
  pricePerGas: 22n * GWEI,
};

test("without a cap the suggestion stays as it is", () => {
  const { maxFeePerGas, maxPriorityFeePerGas } = suggested;
  expect(capFees({ feeCapGwei: undefined }, suggested)).toEqual({
    maxFeePerGas,
    maxPriorityFeePerGas,
    aboveCap: null,
  });
});

test("a price below the cap is paid, and the room above it ends at the cap", () => {
  expect(capFees({ feeCapGwei: "30" }, suggested)).toEqual({
    maxFeePerGas: 30n * GWEI,
    maxPriorityFeePerGas: 2n * GWEI,
    aboveCap: null,
  });
  expect(capFees({ feeCapGwei: "22" }, suggested).aboveCap).toBeNull();
});

test("a price above the cap is named beside the cap, and no fee exceeds the cap", () => {
  expect(capFees({ feeCapGwei: "1.5" }, suggested)).toEqual({
    maxFeePerGas: 1_500_000_000n,
    maxPriorityFeePerGas: 1_500_000_000n,
    aboveCap: { pricePerGas: 22n * GWEI, capPerGas: 1_500_000_000n },
  });
});
