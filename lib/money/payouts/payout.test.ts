import { expect, test } from "vitest";
import { toDecimal } from "@/lib/platform/db/decimal";
import { parsePayout } from "./payout";

const row = {
  ...{
    id: "po_1",
    projectId: "prj_1",
    status: "failed",
    subStatus: "full",
    reference: null,
    createdBy: "key_1",
  },
  ...{
    totalBase: toDecimal(10n ** 30n),
    paidBase: toDecimal(0n),
    failedBase: toDecimal(0n),
    itemsTotal: 1,
    itemsCompleted: 0,
    itemsFailed: 1,
  },
  ...{
    digest: new Uint8Array(32),
    idempotencyKey: null,
    retryOf: null,
    evaluationId: null,
    expiresAt: null,
  },
  ...{
    createdAt: new Date(0),
    updatedAt: new Date(0),
    failure: { code: "no", message: "No.", retryable: true },
  },
};
const accounts = {
  kind: "global_accounts",
  mode: "atomic",
  sourceAccountId: "ga_1",
  currency: "usdc",
};
const wallets = { kind: "wallets", mode: "independent", sourceAccountId: null, currency: null };
const withdrawal = { ...wallets, sourceAccountId: "ga_1", currency: "usdc" };

test("a stored payout of either kind is read with its amounts as integers and its failure parsed", () => {
  for (const kind of [accounts, wallets, withdrawal])
    expect(parsePayout({ ...row, ...kind })).toMatchObject({
      ...kind,
      totalBase: 10n ** 30n,
      failure: row.failure,
    });
});

test.each([
  ["a payout between accounts without its account", { ...accounts, sourceAccountId: null }],
  ["a payout to wallets with a currency", { ...wallets, currency: "usdc" }],
  [
    "a failure that does not say whether it can be tried again",
    { ...wallets, failure: { code: "no", message: "No." } },
  ],
])("%s is refused when it is read", (_name, change) => {
  expect(() => parsePayout({ ...row, ...change })).toThrow();
});
