import { expect, test } from "vitest";
import { causeOf } from "./entry-cause";

const entry = {
  kind: "payout",
  amount: "-5",
  counterpartyName: "Ada",
  payoutId: "po_1" as string | null,
  transactionId: "ltx_1",
  reverses: null as string | null,
};

test("an entry leads to the payout that caused it, and names the other account", () => {
  expect(causeOf(entry)).toEqual({ text: "Payout to Ada", href: "/payouts/po_1" });
  expect(causeOf({ ...entry, amount: "5" })?.text).toBe("Payout from Ada");
  expect(causeOf({ ...entry, kind: "withdrawal_return" })?.text).toBe("Withdrawal");
});

test("a funding leads to its row of the activity, and a reversal to the funding that it takes back", () => {
  const own = { ...entry, payoutId: null };
  expect(causeOf({ ...own, kind: "funding" })).toEqual({
    text: "Account funding",
    href: "/activity?q=ltx_1",
  });
  expect(causeOf({ ...own, kind: "reversal", reverses: "ltx_0" })).toEqual({
    text: "Funding taken back",
    href: "/activity?q=ltx_0",
  });
  expect(causeOf({ ...own, kind: "opening" })).toBeNull();
});
