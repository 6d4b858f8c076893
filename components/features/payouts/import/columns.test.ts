import fc from "fast-check";
import { expect, test } from "vitest";
import type { ImportColumn } from "./column-names";
import {
  columnNames,
  unreadColumns,
  withColumn,
} from "@/components/features/file-import/layout";
import { layoutOf, limitedTo, NO_MAPPING } from "./columns";
import { toRows } from "./to-rows";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const EVERY = { sign: "point", emptyIsCoin: false } as const;

test.each([
  [["Address", "Amount"], { recipient: 0, amount: 1 }],
  [
    ["wallet", "VALUE", "Currency", "Memo"],
    { recipient: 0, amount: 1, token: 2, reference: 3 },
  ],
  [
    ["To", "qty", "asset", "Invoice no.", "Note"],
    { recipient: 0, amount: 1, token: 2, reference: 3, note: 4 },
  ],
  [["Name", "Recipient address", "Amount"], { recipient: 1, amount: 2 }],
  [
    ["token_type", "token_address", "receiver", "amount", "id"],
    { type: 0, token: 1, recipient: 2, amount: 3 },
  ],
  [["token_address", "receiver", "value"], { token: 0, recipient: 1, amount: 2 }],
  [["receiver", "amount", "token_address", "decimals"], { token: 2, recipient: 0, amount: 1 }],
  [["recipientAccountId", "amount", "reference"], { recipient: 0, amount: 1, reference: 2 }],
  [
    ["Wallet", "Amount (USD)", "Network", "Memo"],
    { recipient: 0, amount: 1, chain: 2, reference: 3 },
  ],
  [["chainId", "to", "amount_wei"], { chain: 0, recipient: 1, amount: 2 }],
  [
    [
      "Beneficiary name",
      "Beneficiary account",
      "Payment amount",
      "Payment currency",
      "Payment reference",
    ],
    { recipient: 1, amount: 2, token: 3, reference: 4 },
  ],
])("the names %j are recognised", (header, mapping) => {
  const cells = header.map((_, column) =>
    column === (mapping as { recipient: number }).recipient ? ADA : "1",
  );
  expect(layoutOf([header, cells])).toEqual({
    headed: true,
    mapping: { ...NO_MAPPING, ...mapping },
    open: {},
  });
});

test("without names, columns are found by what is in them", () => {
  expect(layoutOf([["12.5", ADA, "USDC", "Invoice 7"]])).toEqual({
    headed: false,
    mapping: { ...NO_MAPPING, amount: 0, recipient: 1, token: 2, reference: 3 },
    open: {},
  });
  expect(layoutOf([[ADA, "5", "USDC", "Local 2"]], ["Local 1", "Local 2"]).mapping).toEqual({
    ...NO_MAPPING,
    ...{ recipient: 0, amount: 1, token: 2, chain: 3 },
  });
  expect(layoutOf([[ADA, "$1,250.00"]]).mapping).toEqual({
    ...NO_MAPPING,
    recipient: 0,
    amount: 1,
  });
});

test("a heading that is not known is no guess: the person is asked, also about a single column", () => {
  expect(
    layoutOf([
      ["Empfänger", "Lohn"],
      [ADA, "12,5"],
    ]),
  ).toEqual({ headed: true, mapping: NO_MAPPING, open: { recipient: [0], amount: [1] } });
  expect(
    layoutOf([
      ["Name", "Wallet", "Employee number"],
      ["Ada", ADA, "1007"],
    ]),
  ).toEqual({ headed: true, mapping: { ...NO_MAPPING, recipient: 1 }, open: { amount: [2] } });
});

test.each([
  [
    "amount",
    ["Name", "Wallet", "Amount", "Token", "Amount"],
    ["Ada", ADA, "5000", "USDC", "50"],
    [2, 4],
  ],
  ["amount", ["Wallet", "Amount", "Total"], [ADA, "50", "5000"], [1, 2]],
  ["amount", ["Wallet", "Quantity", "Amount (USD)"], [ADA, "50", "5000"], [1, 2]],
  ["amount", ["Wallet", "Amount", "Amount"], [ADA, "USDC 5000", "50"], [1, 2]],
  ["recipient", ["Wallet", "Recipient", "Amount"], [ADA, BOB, "1"], [0, 1]],
  ["recipient", ["Wallet", "Recipient", "Amount"], [ADA, "bob.eth", "1"], [0, 1]],
  ["token", ["Wallet", "Amount", "Token", "Currency"], [ADA, "1", "USDC", "USD"], [2, 3]],
  ["reference", ["Wallet", "Amount", "Invoice", "Memo"], [ADA, "1", "7", "May"], [2, 3]],
  ["chain", ["Wallet", "Amount", "Chain", "Network"], [ADA, "1", "1", "Base"], [2, 3]],
] as const)(
  "of several columns for the %s none is chosen",
  (wanted, header, cells, candidates) => {
    const layout = layoutOf([header, cells]);
    expect(layout.open).toEqual({ [wanted]: candidates });
    expect(layout.mapping[wanted]).toBeNull();
    // The answer closes the question, and the other column is one that is not read.
    const answered = withColumn(layout, wanted, candidates[1]);
    expect(answered.open).toEqual({});
    expect(unreadColumns([header, cells], answered).map(({ column }) => column)).toContain(
      candidates[0],
    );
    expect(withColumn(layout, wanted, null).mapping[wanted]).toBeNull();
  },
);

test("without headings, two columns of numbers are a question too", () => {
  expect(layoutOf([[ADA, "12.5", "1007"]])).toEqual({
    headed: false,
    mapping: { ...NO_MAPPING, recipient: 0 },
    open: { amount: [1, 2] },
  });
});

test("a column without content, and one of names beside addresses, is no candidate", () => {
  expect(
    layoutOf([
      ["Recipient", "Wallet", "Amount", "Amount"],
      ["Ada", ADA, "1", ""],
    ]),
  ).toEqual({ headed: true, mapping: { ...NO_MAPPING, recipient: 1, amount: 2 }, open: {} });
});

test('a column named "type" is one of tokens only where it names some', () => {
  const header = ["type", "to", "amount"];
  expect(layoutOf([header, ["native", ADA, "1"]]).mapping.type).toBe(0);
  expect(layoutOf([header, ["contractor", ADA, "1"]]).mapping.type).toBeNull();
});

test("every column with content is either read, asked about or listed with what it holds", () => {
  const rows = [
    ["Name", "Wallet", "Amount", "", "Birthday", "Empty"],
    ["Ada", ADA, "1", "x", "1 May", ""],
    ["Bob", BOB, "2", "", "2 May", ""],
  ];
  const layout = layoutOf(rows);
  expect(unreadColumns(rows, layout)).toEqual([
    { column: 0, letter: "A", heading: "Name", samples: ["Ada", "Bob"] },
    { column: 3, letter: "D", heading: "", samples: ["x"] },
    { column: 4, letter: "E", heading: "Birthday", samples: ["1 May", "2 May"] },
  ]);
});

test("no column with content is left out of the list, whatever the file", () => {
  const heading = fc.constantFrom(
    "Amount",
    "Wallet",
    "Token",
    "Memo",
    "Chain",
    "Type",
    "Birthday",
    "",
    "Note",
    "Total",
  );
  const cell = fc.constantFrom(ADA, BOB, "5", "1,250", "USDC", "native", "Base", "x", "");
  const table = fc.integer({ min: 1, max: 7 }).chain((width) =>
    fc.tuple(
      fc.array(heading, { minLength: width, maxLength: width }),
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), {
        minLength: 1,
        maxLength: 5,
      }),
    ),
  );
  fc.assert(
    fc.property(table, ([header, body]) => {
      const rows = [header, ...body];
      const layout = layoutOf(rows);
      const listed = [
        ...Object.values(layout.mapping),
        ...Object.values(layout.open).flat(),
        ...unreadColumns(rows, layout).map(({ column }) => column),
      ].filter((column) => column !== null);
      // None twice, and none that holds something missing.
      expect(new Set(listed).size).toBe(listed.length);
      const data = rows.slice(layout.headed ? 1 : 0);
      const filled = header.flatMap((_, column) =>
        data.some((row) => row[column] !== "") ? [column] : [],
      );
      expect(filled.filter((column) => !listed.includes(column))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("columns that a kind of payout does not have are listed, not dropped", () => {
  const rows = [
    ["recipientAccountId", "amount", "chain", "note"],
    ["ga_1", "1", "Base", "x"],
  ];
  const columns: readonly ImportColumn[] = ["recipient", "amount", "token", "reference"];
  const layout = limitedTo(layoutOf(rows), columns);
  expect(unreadColumns(rows, layout).map(({ letter }) => letter)).toEqual(["C", "D"]);
});

test("a column serves one field: giving it to another takes it from the first", () => {
  const layout = layoutOf([["address", "amount", "memo"]]);
  expect(withColumn(layout, "note", 2).mapping).toEqual({
    ...NO_MAPPING,
    recipient: 0,
    amount: 1,
    note: 2,
  });
  expect(withColumn(layout, "reference", null).mapping).toEqual({
    ...NO_MAPPING,
    recipient: 0,
    amount: 1,
  });
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
  expect(columnNames([Array.from({ length: 28 }, () => "x")], false).slice(-2)).toEqual([
    "Column AA",
    "Column AB",
  ]);
});

test("a line with more cells than the header is marked: a comma in an amount moved what stands behind it", () => {
  const rows = [
    ["address", "amount", "memo"],
    [ADA, "1", "250.50", "May"],
    [ADA, "2", "May", ""],
  ];
  const read = toRows({ rows, lines: [1, 2, 3], notices: [] }, layoutOf(rows), EVERY);
  expect(read.map(({ refusals }) => refusals.amount?.slice(0, 24))).toEqual([
    "This line has more cells",
    undefined,
  ]);
});
