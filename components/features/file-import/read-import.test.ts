import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLine } from "@/lib/core/csv";
import { readImport, sizeProblem } from "./read-import";
import { FILE_BYTES_MAX, RefusedFileError } from "./table";
import { xlsxOf, zipOf } from "./testing";

const kindOf = (rowsMax: number) =>
  ({ rowsMax, row: "payment", whole: "a payout", banks: true }) as const;

const ROWS_MAX = 10_000;
const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const TODAY = "2026-05-01";

const read = async (content: string | Uint8Array<ArrayBuffer>, rowsMax = ROWS_MAX) => {
  const file = await readImport(new Blob([content]), kindOf(rowsMax), TODAY);
  if (file.kind !== "table") throw new Error("This is no table.");
  return file.table;
};
const rowsOf = async (content: string | Uint8Array<ArrayBuffer>) => (await read(content)).rows;
const refusal = async (content: string | Uint8Array<ArrayBuffer>): Promise<string> => {
  const error = await read(content).catch((each: unknown) => each);
  expect(error).toBeInstanceOf(RefusedFileError);
  return (error as RefusedFileError).message;
};

const utf16 = (text: string, bigEndian: boolean, mark: boolean): Uint8Array<ArrayBuffer> => {
  const bytes = Buffer.from((mark ? "\uFEFF" : "") + text, "utf16le");
  return new Uint8Array(bigEndian ? bytes.swap16() : bytes);
};

const TWO_ROWS = [
  ["address", "amount", "note"],
  [ADA, "12.5", "Zoë, May"],
];
const TWO_LINES = `address,amount,note\n${ADA},12.5,"Zoë, May"\n`;

test.each([
  ["commas", TWO_LINES],
  ["semicolons", `address;amount;note\n${ADA};12.5;Zoë, May\n`],
  ["tabs", `address\tamount\tnote\n${ADA}\t12.5\tZoë, May`],
  ["bars", `address|amount|note\n${ADA}|12.5|Zoë, May`],
  ["a separator line", `sep=;\naddress;amount;note\n${ADA};12.5;Zoë, May\n`],
  ["a byte order mark", `\uFEFF${TWO_LINES}`],
  ["Windows line ends", TWO_LINES.replaceAll("\n", "\r\n")],
  ["old Mac line ends", TWO_LINES.replaceAll("\n", "\r")],
  ["mixed line ends", TWO_LINES.replace("\n", "\r\n")],
  ["quotes around everything", `"address","amount","note"\n"${ADA}","12.5","Zoë, May"`],
  ["spaces around cells", `address , amount , note\n ${ADA} ,\u00A012.5\u200B,"Zoë, May"`],
  ["lines without content", `\n\naddress,amount,note\n,,\n${ADA},12.5,"Zoë, May"\n\n , ,\n`],
  ["UTF-16, little end first", utf16(TWO_LINES, false, true)],
  ["UTF-16, big end first", utf16(TWO_LINES, true, true)],
  ["UTF-16 without a mark", utf16(TWO_LINES, false, false)],
  ["UTF-16 of the other order without a mark", utf16(TWO_LINES, true, false)],
])("reads a file with %s", async (_, content) => {
  expect(await rowsOf(content)).toEqual(TWO_ROWS);
});

test.each([
  ["a space", `${ADA} 5\n${ADA.toLowerCase()}  1,250.5 \n`],
  ["an equals sign", `${ADA}=5\n\n${ADA.toLowerCase()} = 1,250.5`],
])("lines of an address and an amount with %s between them are read", async (_, content) => {
  expect(await rowsOf(content)).toEqual([
    [ADA, "5"],
    [ADA.toLowerCase(), "1,250.5"],
  ]);
});

test("pairs may have a heading; a line that is no pair makes the text one of another kind", async () => {
  expect(await rowsOf(`address amount\n${ADA} 5`)).toEqual([
    ["address", "amount"],
    [ADA, "5"],
  ]);
  expect(await rowsOf(`${ADA} 5\n${ADA},6`)).toEqual([[`${ADA} 5`], [ADA, "6"]]);
});

test("one module splits delimited text, and one reads the numbers that people write", () => {
  const files = ["app", "lib", "components"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
  const filesWith = (text: string): string[] =>
    files.filter((file) => readFileSync(file, "utf8").includes(text));
  expect(filesWith('from "papaparse"')).toEqual(["components/features/file-import/table.ts"]);
  expect(filesWith("numberAs(").sort()).toEqual([
    "components/features/payouts/import/amount-format.ts",
    "lib/core/read-amount.ts",
  ]);
});

test("a file in Windows-1252 is read, and the person is told to check it", async () => {
  const table = await read(new Uint8Array(Buffer.from(TWO_LINES, "latin1")));
  expect(table.rows).toEqual(TWO_ROWS);
  expect(table.notices).toEqual([
    "The file is not in UTF-8; it was read as Windows-1252. Check letters with accents.",
  ]);
});

test("quotes, separators and line ends inside cells stay, and lines are counted through them", async () => {
  const table = await read('a,b\n"x ""y""\nz",1\n5" pipe,2\n');
  expect(table.rows).toEqual([
    ["a", "b"],
    ['x "y"\nz', "1"],
    ['5" pipe', "2"],
  ]);
  expect(table.lines).toEqual([1, 2, 4]);
});

test("cells that a spreadsheet would run stay text, with and without the apostrophe that guards them", async () => {
  expect(await rowsOf(`a,b\n=1+1,+SUM(A1)\n@x,-2\n'=1+1,"\t=1"`)).toEqual([
    ["a", "b"],
    ["=1+1", "+SUM(A1)"],
    ["@x", "-2"],
    ["=1+1", "=1"],
  ]);
});

test("a zero character stays in its cell, where the check of the row names it", async () => {
  expect(await rowsOf(`address,note\n${ADA},a\u0000b\n`)).toContainEqual([ADA, "a\u0000b"]);
});

test.each([
  ["nothing", "", "The file is empty. Choose a file with one row for each payment."],
  [
    "blank lines alone",
    "\n \n,,\n",
    "The file has no rows. Choose a file with one row for each payment.",
  ],
  [
    "an unclosed quote",
    `address,note\n${ADA},"May\n${ADA},June\n`,
    "A quote that opens in line 2 is never closed. Close or remove it.",
  ],
  [
    "one endless line",
    "x".repeat(11_000),
    "A cell in line 1 has 11,000 characters. Check that quotes are closed and that this is the right file.",
  ],
  [
    "a picture",
    new Uint8Array(Array.from({ length: 4_000 }, (_, at) => (at * 7919) % 256)),
    "This is not a text file. Save the sheet as CSV or XLSX and choose that file.",
  ],
  [
    "an XLS file",
    new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]),
    "This spreadsheet is in the old XLS format or has a password. Save it as XLSX without a password.",
  ],
  [
    "an archive of something else",
    new Uint8Array(zipOf([{ name: "readme.txt", content: "hello" }])),
    "This is not an XLSX spreadsheet. Save the sheet as XLSX or CSV and choose that file.",
  ],
  [
    "a damaged archive",
    new Uint8Array(xlsxOf([["a"]]).subarray(0, 300)),
    "The spreadsheet is damaged. Open it, save it again as XLSX, or save it as CSV.",
  ],
])("refuses %s with a sentence that says what to do", async (_, content, message) => {
  expect(await refusal(content)).toBe(message);
});

test("a file with more rows than a payout takes says how many there are and into how many files to split it", async () => {
  const lines = (count: number): string => `address,amount\n${`${ADA},1\n`.repeat(count)}`;
  expect((await read(lines(ROWS_MAX))).rows.length).toBe(ROWS_MAX + 1);
  expect(await refusal(lines(100_000))).toBe(
    "The file has 100,001 rows; a payout takes at most 10,000. Split it into 11 files.",
  );
  expect(await refusal(lines(250_000))).toBe(
    "The file has more than 200,000 rows; a payout takes at most 10,000. Split it into several files.",
  );
});

test("a file of 100 MB is refused by its size, before a byte of it is read", async () => {
  const huge = {
    size: 100 * 1024 * 1024,
    arrayBuffer: () => Promise.reject(new Error("It was read.")),
  };
  await expect(readImport(huge as unknown as Blob, kindOf(ROWS_MAX), TODAY)).rejects.toThrow(
    "The file has 100 MiB; at most 16 MiB can be read. Split it into smaller files.",
  );
  expect(sizeProblem(FILE_BYTES_MAX, kindOf(1))).toBeNull();
  expect(sizeProblem(FILE_BYTES_MAX + 1, kindOf(1))).not.toBeNull();
});

test("what our own export writes is read back as it was, whatever the cells hold", async () => {
  const cell = fc
    .string({ unit: "binary", maxLength: 40 })
    // Spaces around a cell and line ends of other systems are not kept; control characters are a
    // test of their own.
    .map((text) => `x${text.replace(/\p{Cc}/gu, (each) => (each === "\n" ? each : ""))}y`);
  const formula = fc.constantFrom("=1+1", "+1", "-1", "@a", '=HYPERLINK("x","y")');
  const line = fc.tuple(cell, fc.oneof(cell, formula), cell);
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (rows) => {
      const text = [["one", "two", "three"], ...rows].map((cells) => csvLine(cells)).join("");
      expect((await rowsOf(text)).slice(1)).toEqual(rows);
    }),
    { numRuns: 200 },
  );
});
