import { expect, test } from "vitest";
import { peggedWorth } from "./pegged-worth";

const dollars = (amountBase: bigint, decimals: number) => ({
  amountBase,
  decimals,
  isPegged: true,
});

test("amounts of dollar tokens with different decimals are added in dollars", () => {
  expect(peggedWorth([dollars(1_500_000n, 6), dollars(250_000_000_000_000_000n, 18)])).toBe(
    "1.75",
  );
});

test("without an amount, or with a token that is no dollar, no worth is known", () => {
  expect(peggedWorth([])).toBeNull();
  expect(
    peggedWorth([dollars(1n, 6), { amountBase: 1n, decimals: 18, isPegged: false }]),
  ).toBeNull();
});
