import { expect, test } from "vitest";
import type { Payout } from "@/components/features/payouts/payout";
import type { ListedOperation } from "@/components/features/operations/operation";
import { flowsOf } from "./flows";

const OWN = "0x0000000000000000000000000000000000000001";
const OTHER = "0x0000000000000000000000000000000000000002";
const usdc = { symbol: "USDC", assetId: "usdc" };

// The code under test reads none of the other fields.
const operation = (fields: {
  kind?: string;
  to: string;
  received: string;
  /** By default as much as arrived. */
  spent?: string;
  refunded?: true;
  day: string;
  token?: typeof usdc;
}): ListedOperation =>
  ({
    kind: fields.kind ?? "transfer",
    createdAt: `${fields.day}T12:00:00.000Z`,
    quoted: { to: { address: fields.to } },
    actual: { received: { amount: fields.received, token: fields.token ?? usdc } },
    legs: [
      {
        spent: { amount: fields.spent ?? fields.received, token: fields.token ?? usdc },
        refund: fields.refunded === true ? {} : null,
      },
    ],
  }) as unknown as ListedOperation;
const payout = {
  kind: "wallets",
  createdAt: "2026-11-25T01:00:00.000Z",
  totals: [{ token: usdc, amount: "30", paid: "20" }],
} as unknown as Payout;

const flows = (operations: readonly ListedOperation[], payouts: readonly Payout[] = []) =>
  flowsOf(
    {
      operations,
      payouts,
      wallets: new Set([OWN]),
      priceOf: (assetId) => (assetId === "usdc" ? "1" : null),
    },
    new Date("2026-11-25T10:00:00Z"),
    2,
  );

test("what leaves the project goes out on its day, and what moves between its wallets does not count", () => {
  const found = flows(
    [
      operation({ to: OTHER, received: "10", day: "2026-11-24" }),
      operation({ to: OWN, received: "99", day: "2026-11-24" }),
      operation({ to: OTHER, received: "5", day: "2026-11-20" }),
    ],
    [payout],
  );
  expect(found.days).toEqual([
    { day: "2026-11-24", in: "0", out: "10" },
    { day: "2026-11-25", in: "0", out: "20" },
  ]);
  expect([found.in, found.out]).toEqual(["0", "30"]);
});

test("fees that a bridge takes go out with the money, and money that came back did not go out", () => {
  const found = flows([
    operation({ to: OTHER, received: "25.07", spent: "25.5", day: "2026-11-25" }),
    operation({ to: OTHER, received: "0", spent: "40", refunded: true, day: "2026-11-25" }),
  ]);
  expect([found.in, found.out]).toEqual(["0", "25.5"]);
});

test("a deposit comes in, and what has no price is named instead of counted as nothing", () => {
  const odd = { symbol: "ODD", assetId: "odd" };
  const found = flows([
    operation({ kind: "deposit", to: OWN, received: "7.5", day: "2026-11-25" }),
    operation({ to: OTHER, received: "1", day: "2026-11-25", token: odd }),
    operation({
      to: OTHER,
      received: "0",
      day: "2026-11-25",
      token: { symbol: "NOTHING", assetId: "nothing" },
    }),
  ]);
  expect([found.in, found.out, found.unpriced]).toEqual(["7.5", null, ["ODD"]]);
});
