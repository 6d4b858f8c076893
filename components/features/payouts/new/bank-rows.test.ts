import { expect, test } from "vitest";
import type { BankPayment } from "@/components/features/file-import/pain";
import { bankRows, currenciesOf, fitsCurrency, payeesOf } from "./bank-rows";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const payment = (part: Partial<BankPayment>): BankPayment => ({
  creditor: "Ada Ltd",
  account: "DE89",
  amount: "5",
  currency: "USD",
  reference: "May",
  refusal: null,
  ...part,
});
const [payee] = payeesOf([payment({})]);
const key = payee?.key ?? "";

test("payees are told apart by name and account, and one whose account is an address needs no match", () => {
  const payees = payeesOf([
    payment({}),
    payment({}),
    payment({ account: "FR76" }),
    payment({ account: ADA }),
  ]);
  expect(payees.map(({ name, account, payments }) => [name, account, payments])).toEqual([
    ["Ada Ltd", "DE89", 2],
    ["Ada Ltd", "FR76", 1],
  ]);
  expect(currenciesOf([payment({}), payment({ currency: "EUR" }), payment({})])).toEqual([
    { currency: "USD", payments: 2 },
    { currency: "EUR", payments: 1 },
  ]);
});

test("only tokens that stand for a currency are offered for it", () => {
  const fits = (symbol: string, currency: string, usdPegged = false) =>
    fitsCurrency({ symbol, usdPegged }, currency);
  expect([
    fits("USDC", "USD", true),
    fits("EURC", "EUR"),
    fits("XSGD", "SGD"),
    fits("EUR", "EUR"),
  ]).toEqual([true, true, true, true]);
  expect([
    fits("USDX", "USD"),
    fits("USDC", "EUR", true),
    fits("EURC", ""),
    fits("ETH", "ETHX"),
    fits("NEURO", "EUR"),
  ]).toEqual([false, false, false, false, false]);
});

test("matched payments become rows; what is not matched is an error of its row, and nothing fills it", () => {
  const payments = [
    payment({}),
    payment({ creditor: "Bob" }),
    payment({ currency: "EUR" }),
    payment({ account: ADA, amount: "1,5", refusal: "Not understood." }),
  ];
  const rows = bankRows(payments, {
    tokens: new Map([["USD", "0xToken"]]),
    recipients: new Map([[key, ADA]]),
  });
  expect(
    rows.map(({ recipient, token, units, refusals }) => ({
      recipient,
      token,
      units,
      refusals,
    })),
  ).toEqual([
    { recipient: ADA, token: "0xToken", units: [], refusals: {} },
    { recipient: "", token: "0xToken", units: [], refusals: {} },
    {
      recipient: ADA,
      token: "",
      units: ["EUR"],
      refusals: { token: "No token was chosen for EUR." },
    },
    { recipient: ADA, token: "0xToken", units: [], refusals: { amount: "Not understood." } },
  ]);
  expect(rows[0]).toMatchObject({
    amount: "5",
    reference: "May",
    note: "Ada Ltd, DE89",
    checked: true,
  });
});

test("between accounts the amounts stay in the file's currency, which the account's has to be", () => {
  const [row] = bankRows([payment({})], { tokens: null, recipients: new Map([[key, "ga_1"]]) });
  expect(row).toMatchObject({
    recipient: "ga_1",
    token: "",
    units: ["USD"],
    note: "",
    refusals: {},
  });
});
