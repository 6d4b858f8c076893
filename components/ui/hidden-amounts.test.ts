import { expect, test } from "vitest";
import { withoutAmounts, withoutJsonAmounts } from "./hidden-amounts";

test.each([
  ["Transfer of 1,250.5 USDC", "Transfer of •••••• USDC"],
  ["Deposit of 5 wstETH in quarantine", "Deposit of •••••• wstETH in quarantine"],
  ["Send at least 0.0666302 WETH.", "Send at least •••••• WETH."],
  ["Worth $12,000.00, above the limit of 500.", "Worth ••••••, above the limit of ••••••."],
])("%s has no amount while amounts are hidden", (text, hidden) => {
  expect(withoutAmounts(text)).toBe(hidden);
});

test.each([
  "Payout to 3 wallets failed",
  "It needs 2 approvals.",
  "To 0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "To 0x7099…79C8 by key_01J9",
])("%s stays as it is: it has no amount", (text) => {
  expect(withoutAmounts(text)).toBe(text);
});

test("JSON has no decimal string while amounts are hidden, and keeps its ids, times, chains and other numbers", () => {
  const record = {
    amount: "1250.5",
    minimum: "-3",
    chainId: 31337,
    id: "op_01J9",
    at: "2026-11-25T10:00:00.000Z",
  };
  expect(JSON.parse(withoutJsonAmounts(JSON.stringify(record)))).toEqual({
    ...record,
    amount: "••••••",
    minimum: "••••••",
  });
});
