import { expect, test } from "vitest";
import { columnNames, layoutOf, withColumn } from "./columns";
import { toRows } from "./to-rows";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const NONE = { recipient: null, amount: null, token: null, reference: null, note: null };

test.each([
  [["Address", "Amount"], { recipient: 0, amount: 1 }],
  [["wallet", "VALUE", "Currency", "Memo"], { recipient: 0, amount: 1, token: 2, reference: 3 }],
  [["To", "qty", "asset", "Invoice no.", "Note"], { recipient: 0, amount: 1, token: 2, reference: 3, note: 4 }],
  [["Name", "Recipient address", "Amount"], { recipient: 1, amount: 2 }],
  [["token_type", "token_address", "receiver", "amount", "id"], { token: 1, recipient: 2, amount: 3 }],
  [["recipientAccountId", "amount", "reference"], { recipient: 0, amount: 1, reference: 2 }],
])("the names %j are recognised", (header, mapping) => {
  expect(layoutOf([header, [ADA, "1"]])).toEqual({ headed: true, mapping: { ...NONE, ...mapping } });
});

test("without names, columns are found by what is in them", () => {
  expect(layoutOf([["12.5", ADA, "USDC", "Invoice 7"]])).toEqual({
    headed: false,
    mapping: { ...NONE, amount: 0, recipient: 1, token: 2, reference: 3 },
  });
  expect(
    layoutOf([
      ["Empfänger", "Betrag"],
      [ADA, "12,5"],
    ]),
  ).toEqual({
    headed: true,
    mapping: { ...NONE, recipient: 0, amount: 1 },
  });
});

test("what no name says is found by its content, but not where two columns could be meant", () => {
  expect(
    layoutOf([
      ["Address", "Betrag"],
      [ADA, "12,5"],
    ]).mapping,
  ).toEqual({ ...NONE, recipient: 0, amount: 1 });
  expect(
    layoutOf([
      ["Address", "Betrag", "Rechnung"],
      [ADA, "12,5", "1007"],
    ]).mapping,
  ).toEqual({ ...NONE, recipient: 0 });
  expect(layoutOf([[ADA, "12.5", "1007"]])).toEqual({ headed: false, mapping: { ...NONE, recipient: 0 } });
});

test("a column serves one field: giving it to another takes it from the first", () => {
  const { mapping } = layoutOf([["address", "amount", "memo"]]);
  expect(withColumn(mapping, "note", 2)).toEqual({ ...NONE, recipient: 0, amount: 1, note: 2 });
  expect(withColumn(mapping, "reference", null)).toEqual({ ...NONE, recipient: 0, amount: 1 });
});

test("columns without a name are called by their letter", () => {
  expect(
    columnNames(
      [
        ["address", ""],
        ["x", "y", "z"],
      ],
      true,
    ),
  ).toEqual(["address", "Column B", "Column C"]);
  expect(columnNames([Array.from({ length: 28 }, () => "x")], false).slice(-2)).toEqual(["Column AA", "Column AB"]);
});

test("a line with more cells than the header is marked: a comma in an amount moved what stands behind it", () => {
  const rows = [
    ["address", "amount", "memo"],
    [ADA, "1", "250.50", "May"],
    [ADA, "2", "May", ""],
  ];
  expect(toRows({ rows, lines: [1, 2, 3], notices: [] }, layoutOf(rows), "point").map(({ ragged }) => ragged)).toEqual([
    true,
    false,
  ]);
});
