import { expect, test } from "vitest";
import { payoutTitle } from "./titles";

const usdc = { amount: "1250", symbol: "USDC" };
const of = (totals: readonly { amount: string; symbol: string }[], recipients = 12) => ({
  ...{ reference: null, totals, recipients },
});
const locale = "en";

test("a payout has its reference as its title", () => {
  expect(payoutTitle({ ...of([usdc]), reference: "Wages of May" })).toBe("Wages of May");
});

test("a payout without a reference is called by its amounts and its number of recipients", () => {
  expect(payoutTitle(of([usdc]), { locale })).toBe("1,250.00 USDC to 12 recipients");
  expect(payoutTitle(of([usdc], 1), { locale })).toBe("1,250.00 USDC to 1 recipient");
  const eth = { amount: "0.066630215", symbol: "ETH" };
  expect(payoutTitle(of([usdc, eth], 10_000), { locale })).toBe(
    "1,250.00 USDC + 0.0666302 ETH to 10,000 recipients",
  );
  expect(payoutTitle(of([usdc, eth, eth]), { locale })).toBe(
    "1,250.00 USDC + 2 more tokens to 12 recipients",
  );
});

test("hidden amounts are not in the title", () => {
  expect(payoutTitle(of([usdc]), { hidden: true })).toBe("USDC to 12 recipients");
});
