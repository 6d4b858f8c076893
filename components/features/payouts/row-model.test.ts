import { describe, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import {
  EMPTY_ROW,
  problemsOf,
  repeatsOf,
  rowProblemsOf,
  rowsFromCsv,
  toPayoutBody,
  totalBase,
  type PayoutRow,
} from "./row-model";

const SOURCE = { id: newId("globalAccount"), currency: "USDC", assetId: "usd-coin", decimals: 6 };
const ADA = newId("globalAccount");
const BOB = newId("globalAccount");
const row = (key: number, part: Partial<PayoutRow>): PayoutRow => ({ ...EMPTY_ROW, key, ...part });

describe("rows of a file", () => {
  test("are read by the names of its columns, in any order and with others between", () => {
    expect(rowsFromCsv(`Amount,Note,Recipient account id,reference\n12.5,x,${ADA},May`)).toEqual([
      { recipient: ADA, amount: "12.5", reference: "May", currency: null },
    ]);
  });

  test("are read as recipient, amount, reference where there is no header", () => {
    expect(rowsFromCsv(`${ADA},1\n${BOB},2,rent`)).toEqual([
      { recipient: ADA, amount: "1", reference: "", currency: null },
      { recipient: BOB, amount: "2", reference: "rent", currency: null },
    ]);
    expect(rowsFromCsv("")).toEqual([]);
  });

  test("keep their currency, so that dollars are not paid where euros were meant", () => {
    const [dollars, euros, none] = rowsFromCsv(`account,amount,currency\n${ADA},1,usdc\n${ADA},1,EURC\n${ADA},1,`);
    expect(dollars && problemsOf(dollars, SOURCE)).toEqual({});
    expect(euros && problemsOf(euros, SOURCE)).toEqual({
      amount: "The file says EURC, but the source holds USDC.",
    });
    expect(none && problemsOf(none, SOURCE)).toEqual({});
  });
});

describe("a row", () => {
  test("says what is wrong with each of its fields", () => {
    expect(problemsOf(row(1, {}), SOURCE)).toEqual({ recipient: "Choose an account.", amount: "Type an amount." });
    expect(problemsOf(row(1, { recipient: "ga_1", amount: "0.0000001", reference: "x".repeat(141) }), SOURCE)).toEqual({
      recipient: "This is no id of a global account: it begins with ga_.",
      amount: "USDC has 6 digits after the point, no more.",
      reference: "At most 140 characters.",
    });
    expect(problemsOf(row(1, { recipient: SOURCE.id, amount: "1" }), SOURCE)).toEqual({
      recipient: "This is the account that pays.",
    });
  });

  test("that repeats an earlier one is found; blank ones repeat nothing", () => {
    const rows = [
      row(1, { recipient: ADA, amount: "1" }),
      row(2, {}),
      row(3, { recipient: ADA, amount: " 1" }),
      row(4, {}),
      row(5, { recipient: ADA, amount: "1", reference: "other" }),
    ];
    expect([...repeatsOf(rows)]).toEqual([3]);
  });
});

describe("a payout", () => {
  const rows = [
    row(7, { recipient: ADA, amount: "1.5", reference: " May " }),
    row(8, {}),
    row(9, { recipient: BOB, amount: "0.000001" }),
  ];

  test("sends what was typed, without blank rows, and knows which row is which", () => {
    expect(toPayoutBody(rows, SOURCE, { mode: "independent", reference: "" })).toEqual({
      keys: [7, 9],
      body: {
        sourceAccountId: SOURCE.id,
        mode: "independent",
        transfers: [
          { recipientAccountId: ADA, amount: "1.5", currency: "usd-coin", reference: "May" },
          { recipientAccountId: BOB, amount: "0.000001", currency: "usd-coin" },
        ],
      },
    });
    expect(totalBase(rows, SOURCE)).toBe(1_500_001n);
  });

  test("puts what the service refuses beside its row; what is about no row is not lost", () => {
    const { rows: problems, complete } = rowProblemsOf(
      [
        { path: "transfers.1.recipientAccountId", message: "Is closed." },
        { path: "transfers.1.recipientAccountId", message: "Second." },
        { path: "transfers.0.currency", message: "Is another." },
      ],
      [7, 9],
    );
    expect(complete).toBe(true);
    expect([...problems]).toEqual([
      [9, { recipient: "Is closed." }],
      [7, { amount: "Is another." }],
    ]);
    expect(rowProblemsOf([{ path: "sourceAccountId", message: "Is closed." }], [7]).complete).toBe(false);
    expect(rowProblemsOf([{ path: "transfers.5.amount", message: "?" }], [7]).complete).toBe(false);
    expect(rowProblemsOf([], [7]).complete).toBe(false);
  });
});
