import { expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { type LegPlan, parseDeposit, parsePlan, planToJson } from "./plan";

const A = "0x00000000000000000000000000000000000000aa";
const B = "0x00000000000000000000000000000000000000bb";
const swap = {
  shares: [
    { hops: [{ tokenIn: A, tokenOut: B, fee: 500 }], amountIn: 2n ** 200n, amountOut: 1n },
  ],
} as const;
const plans: readonly LegPlan[] = [
  { kind: "transfer" },
  {
    kind: "swap",
    swap: { shares: swap.shares.map((share) => ({ ...share, hops: [...share.hops] })) },
  },
  {
    kind: "bridge",
    inputToken: A,
    outputToken: B,
    inputAmount: 10n,
    outputAmount: 9n,
    sourceSwap: null,
    destinationSwap: {
      shares: swap.shares.map((share) => ({ ...share, hops: [...share.hops] })),
    },
    destinationBlock: 7n,
  },
];

test.each(plans)("a plan for a $kind survives being stored as JSON", (plan) => {
  const stored: unknown = JSON.parse(JSON.stringify(planToJson(plan)));
  expect(parsePlan(stored)).toEqual(plan);
});

test.each([null, {}, { kind: "teleport" }, { kind: "swap", swap: { shares: [] } }, "transfer"])(
  "what is not a plan of this provider is refused: %j",
  (value) => {
    for (const parse of [parsePlan, parseDeposit]) {
      const refused = (() => {
        try {
          parse(value);
          return null;
        } catch (error) {
          return error;
        }
      })();
      expect(isDomainError(refused) && refused.code).toBe("internal_error");
    }
  },
);
