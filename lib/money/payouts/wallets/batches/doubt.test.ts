import { expect, test } from "vitest";
import type { ExecutedAttempt } from "@/lib/chain/smart-accounts/service";
import { agreedVerdict, contradicts, judge } from "./doubt";
import type { PayableRow } from "./payout-batch";

const TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const [ADA, BOB] = [
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
] as const;
const token = {
  symbol: "USDC",
  address: TOKEN,
  chainId: 1,
  decimals: 6,
  name: "USD Coin",
  assetId: "usdc",
} as const;

const row = (index: number, recipient: `0x${string}`, amountBase = 5_000_000n): PayableRow => ({
  ...{ index, recipient, amountBase },
});

const paying = (
  payments: readonly (readonly [string, string])[],
  success = true,
): ExecutedAttempt => ({
  ...{ name: "po_1/0/1", userOpHash: "0x01", txHash: "0x02", blockNumber: 7n, success },
  payments: payments.map(([to, amount]) => ({
    to: to as `0x${string}`,
    amount,
    token: TOKEN,
    symbol: "USDC",
  })),
  payload: payments.map(([to]) => to.slice(2).toLowerCase()).join(" "),
});

const verdict = (
  rows: readonly PayableRow[],
  own: readonly ExecutedAttempt[],
  others: readonly ExecutedAttempt[] = [],
) => judge({ token: { ...token, usdPegged: true }, rows, own, others });

test("rows with exactly their payment were paid, and rows that no operation names were not", () => {
  const by = paying([[ADA, "5"]]);
  expect(verdict([row(0, ADA)], [by])).toEqual({ kind: "proven", unpaid: [], by });
  expect(verdict([row(0, ADA), row(1, BOB)], [by])).toEqual({
    kind: "proven",
    unpaid: [row(1, BOB)],
    by,
  });
  expect(verdict([row(0, BOB)], [by])).toEqual({
    kind: "proven",
    unpaid: [row(0, BOB)],
    by: null,
  });
});

test("one payment pays one of two equal rows, and the other one is unclear", () => {
  expect(verdict([row(0, ADA), row(1, ADA)], [paying([[ADA, "5"]])])).toEqual({
    kind: "unclear",
    row: row(1, ADA),
  });
  const twice = paying([
    [ADA, "5"],
    [ADA, "5"],
  ]);
  expect(verdict([row(0, ADA), row(1, ADA)], [twice])).toMatchObject({
    kind: "proven",
    unpaid: [],
  });
});

test("another amount, another token or a part of a lost division leaves the row unclear", () => {
  expect(verdict([row(0, ADA)], [paying([[ADA, "4"]])])).toMatchObject({ kind: "unclear" });
  const foreign = paying([[ADA, "5"]]);
  const inOther = {
    ...foreign,
    payments: foreign.payments.map((each) => ({ ...each, token: BOB })),
  };
  expect(verdict([row(0, ADA)], [inOther])).toMatchObject({ kind: "unclear" });
  expect(
    verdict([row(0, ADA), row(1, BOB)], [paying([[ADA, "5"]])], [paying([[BOB, "5"]])]),
  ).toMatchObject({
    kind: "unclear",
    row: { index: 1 },
  });
});

test("an operation that reverted paid nothing, and without any operation nothing is proven", () => {
  expect(verdict([row(0, ADA)], [paying([[ADA, "5"]], false)])).toMatchObject({
    kind: "proven",
    by: null,
  });
  expect(verdict([row(0, ADA)], [])).toEqual({ kind: "unseen" });
});

test("two providers agree when they lead to the same rows by the same transaction", () => {
  const [paid, unseen] = [
    verdict([row(0, ADA)], [paying([[ADA, "5"]])]),
    verdict([row(0, ADA)], []),
  ];
  const elsewhere = verdict([row(0, ADA)], [{ ...paying([[ADA, "5"]]), txHash: "0x03" }]);
  const unpaid = verdict([row(0, ADA)], [paying([[BOB, "5"]])]);
  expect(agreedVerdict([paid, paid])).toBe(paid);
  expect(agreedVerdict([unseen, paid, paid])).toBe(paid);
  expect(agreedVerdict([unseen, unseen])).toEqual({ kind: "unseen" });
  for (const other of [unseen, elsewhere, unpaid])
    expect(agreedVerdict([paid, other])).toBeNull();
  expect(agreedVerdict([paid])).toBeNull();
});

test("a provider contradicts a statement when it proves something else for any row", () => {
  const rows = [row(0, ADA), row(1, BOB)];
  const of = (own: readonly ExecutedAttempt[]) =>
    (["paid", "not_paid"] as const).filter((statement) =>
      contradicts(verdict(rows, own), statement, rows.length),
    );
  expect(of([])).toEqual([]);
  expect(
    of([
      paying([
        [ADA, "5"],
        [BOB, "5"],
      ]),
    ]),
  ).toEqual(["not_paid"]);
  expect(of([paying([[ADA, "5"]])])).toEqual(["paid", "not_paid"]);
  expect(of([paying([], true)])).toEqual(["paid"]);
});
