import { expect, test } from "vitest";
import { accountRules, accountTransfers } from "./account-rules";
import { EMPTY_ROW, type DraftRow, type DraftValues } from "./draft-row";

const PAYER = "ga_01980000-0000-7000-8000-000000000001";
const PAYEE = "ga_01980000-0000-7000-8000-000000000002";
const SOURCE = {
  id: PAYER,
  currency: "USDC",
  assetId: "usd-coin",
  decimals: 6,
  isDollar: true,
};
const rules = accountRules(SOURCE);
const row = (part: Partial<DraftValues>): DraftRow => ({
  ...EMPTY_ROW,
  ...{ recipient: PAYEE, amount: "12.5", key: 1 },
  ...part,
});

test.each([
  [{}, {}],
  [{ token: "usdc" }, {}],
  [{ recipient: "" }, { recipient: "Choose an account." }],
  [
    { recipient: "Ada" },
    { recipient: "This is not the id of an account: it begins with ga_." },
  ],
  [{ recipient: PAYER }, { recipient: "This is the account that pays." }],
  [{ amount: "0.0000001" }, { amount: "USDC has 6 digits after the point, no more." }],
  [
    { token: "EUR" },
    { amount: "The file says EUR, but the account holds USDC. Enter the amount again." },
  ],
  [
    { refusals: { token: "The cell is empty." } },
    { amount: "The file names no currency for this row. Enter the amount in USDC." },
  ],
  [{ units: ["USD"] }, {}],
  [
    { units: ["EUR"] },
    { amount: 'The file says 12.5 in "EUR", but the row pays USDC. Enter the amount in USDC.' },
  ],
  [
    { amount: "12 50" },
    {
      amount:
        '"12 50" was not understood: marks inside a number stand only between whole groups of digits, such as 1,250.50.',
    },
  ],
  [{ reference: "x".repeat(141) }, { reference: "At most 140 characters; this has 141." }],
])("%j has the problems %j", (part, problems) => {
  expect(rules.problemsOf(row(part))).toEqual(problems);
});

test("rows go in the currency of the account that pays", () => {
  expect(accountTransfers([row({ reference: "May" })], SOURCE)).toEqual([
    { recipientAccountId: PAYEE, amount: "12.5", currency: "usd-coin", reference: "May" },
  ]);
});
