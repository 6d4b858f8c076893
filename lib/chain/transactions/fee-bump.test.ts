import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { raisedFees } from "./broadcast";

const GWEI = 10n ** 9n;

describe("a raised fee", () => {
  test("is at least an eighth higher in both parts, whatever the network asks for", () => {
    const fee = fc.bigInt({ min: 0n, max: 10_000n * GWEI });
    fc.assert(
      fc.property(fee, fee, fee, fee, (maxFee, priority, suggestedMax, suggestedPriority) => {
        const present = { maxFeePerGas: maxFee + priority, maxPriorityFeePerGas: priority };
        const suggested = {
          maxFeePerGas: suggestedMax + suggestedPriority,
          maxPriorityFeePerGas: suggestedPriority,
        };
        const raised = raisedFees(present, suggested, null);
        if (raised === null) return;
        expect(raised.maxFeePerGas * 8n).toBeGreaterThanOrEqual(present.maxFeePerGas * 9n);
        expect(raised.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(
          present.maxPriorityFeePerGas * 9n,
        );
        expect(raised.maxFeePerGas).toBeGreaterThanOrEqual(raised.maxPriorityFeePerGas);
        expect(raised.maxFeePerGas).toBeGreaterThanOrEqual(suggestedMax + suggestedPriority);
      }),
    );
  });

  test("follows the network when that asks for more", () => {
    const suggested = { maxFeePerGas: 50n * GWEI, maxPriorityFeePerGas: 2n * GWEI };
    expect(
      raisedFees({ maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: GWEI }, suggested, null),
    ).toEqual(suggested);
  });

  test("is not paid when the transaction offers many times what the network asks for", () => {
    const suggested = { maxFeePerGas: 2n * GWEI, maxPriorityFeePerGas: GWEI };
    expect(
      raisedFees({ maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI }, suggested, null),
    ).toBeNull();
  });

  test("is not raised above the chain's cap", () => {
    const suggested = { maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI };
    const present = { maxFeePerGas: 9n * GWEI, maxPriorityFeePerGas: GWEI };
    expect(raisedFees(present, suggested, 10n * GWEI)).toBeNull();
    expect(raisedFees(present, suggested, 11n * GWEI)?.maxFeePerGas).toBeGreaterThan(
      10n * GWEI,
    );
  });
});
