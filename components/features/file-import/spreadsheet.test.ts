import { expect, test } from "vitest";
import { EXPANDED_BYTES_MAX, parseSpreadsheet } from "./spreadsheet";
import type { NumberCell } from "./table";
import { xlsxOf, zipOf, type SheetCell } from "./testing";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const STYLES = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="d\\-mmm;@"/><numFmt numFmtId="165" formatCode="#,##0.00 &quot;USDC&quot;"/></numFmts>
  <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
  <cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="165"/></cellXfs></styleSheet>`;

const number = (text: string, units: readonly string[] = []): NumberCell => ({
  number: text,
  units,
  cut: false,
});
const parse = (bytes: Buffer<ArrayBuffer>) => parseSpreadsheet(new Uint8Array(bytes));
const firstRow = async (cells: readonly SheetCell[], styles = STYLES) =>
  (await parse(xlsxOf([cells], { styles }))).rows[0];

test("texts, numbers and gaps of a sheet are read, with the rows' own numbers", async () => {
  const table = await parse(
    xlsxOf([
      ["address", "amount", "note"],
      [],
      [ADA, 1250.5, { xml: '<c t="inlineStr"><is><t>A</t><t> &amp; B</t></is></c>' }],
    ]),
  );
  expect(table.rows).toEqual([
    ["address", "amount", "note"],
    [ADA, number("1250.5"), "A & B"],
  ]);
  expect(table.lines).toEqual([1, 3]);
  expect(table.notices).toEqual([]);
});

test("a number that the spreadsheet turned into a date or a share is text, so that it is never paid", async () => {
  expect(
    await firstRow([
      { xml: '<c s="1"><v>46143</v></c>' },
      { xml: '<c s="2"><v>46143.5</v></c>' },
      { xml: '<c s="3"><v>0.125</v></c>' },
      { xml: '<c s="4"><v>99.95</v></c>' },
    ]),
  ).toEqual(["2026-05-01", "2026-05-01 12:00", "12.5%", number("99.95", ["USDC"])]);
});

test("results of formulas count; formulas without a result, errors and truth values are text", async () => {
  expect(
    await firstRow([
      { xml: "<c><f>A1*2</f><v>25</v></c>" },
      { xml: '<c t="str"><f>A1&amp;B1</f><v>ab</v></c>' },
      { xml: "<c><f>SUM(A1:A9)</f></c>" },
      { xml: '<c t="e"><v>#REF!</v></c>' },
      { xml: '<c t="b"><v>1</v></c>' },
    ]),
  ).toEqual([number("25"), "ab", "=SUM(A1:A9)", "#REF!", "TRUE"]);
});

test("cells without a place follow each other, prefixes of names do not matter, phonetic hints are left out", async () => {
  const bytes = zipOf([
    {
      name: "xl/workbook.xml",
      content:
        '<x:workbook xmlns:r="r"><x:sheets><x:sheet name="A" r:id="r1"/></x:sheets></x:workbook>',
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content: '<Relationships><Relationship Id="r1" Target="/xl/one.xml"/></Relationships>',
    },
    {
      name: "xl/sharedStrings.xml",
      content: "<sst><si><t>東京</t><rPh><t>トウキョウ</t></rPh></si></sst>",
    },
    {
      name: "xl/one.xml",
      content:
        '<x:worksheet><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c><x:v>7</x:v></x:c></x:row></x:worksheet>',
    },
  ]);
  expect((await parse(bytes)).rows).toEqual([["東京", number("7")]]);
});

test("hidden rows and further sheets are said, and a hidden sheet is not read", async () => {
  const table = await parse(
    xlsxOf([["a"], ["b"]], {
      sheets: '<sheet name="Old" state="hidden" r:id="rId9"/><sheet name="May" r:id="rId1"/>',
      rowAttributes: (row) => (row === 1 ? 'hidden="1"' : ""),
    }),
  );
  expect(table.notices).toEqual([
    'Only the sheet "May" was read, the first of 2.',
    "1 rows are hidden in the spreadsheet; they were read too.",
  ]);
});

test("an archive that says it unpacks to more than the bound is refused before it is unpacked", async () => {
  const bytes = zipOf([
    { name: "xl/workbook.xml", content: "<workbook/>", claimedBytes: EXPANDED_BYTES_MAX + 1 },
  ]);
  await expect(parse(bytes)).rejects.toThrow(
    "The spreadsheet unpacks to more than a payout can hold.",
  );
});

test("unpacking stops when there is more than the directory says", async () => {
  // 20 MiB of zeros take 20 KiB; the directory claims one kilobyte.
  const bytes = zipOf([
    { name: "xl/workbook.xml", content: Buffer.alloc(20 * 1024 * 1024), claimedBytes: 1_024 },
  ]);
  expect(bytes.length).toBeLessThan(64 * 1024);
  await expect(parse(bytes)).rejects.toThrow(
    "The spreadsheet unpacks to more than a payout can hold.",
  );
});

test("a long text that every cell repeats is refused", async () => {
  const long = { xml: '<c t="s"><v>0</v></c>' };
  const rows: SheetCell[][] = [
    ["x".repeat(9_000)],
    ...Array.from({ length: 1_000 }, () => [long, long, long, long, long]),
  ];
  await expect(parse(xlsxOf(rows))).rejects.toThrow(
    "The spreadsheet holds more text than a payout can.",
  );
});

test("entities of a document type are not expanded", async () => {
  const content =
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><workbook xmlns:r="r"><sheets><sheet name="&b;" r:id="rId1"/></sheets></workbook>';
  await expect(parse(zipOf([{ name: "xl/workbook.xml", content }]))).rejects.toThrow(
    "no sheet that can be read",
  );
});

test("units that a cell's format shows are kept, and numbers that it shows in thousands are text", async () => {
  const codes = [
    "#,##0.00 &quot;USDC&quot;",
    "[$€-407] #,##0.00",
    "$#,##0.00",
    "\\U\\S\\D 0",
    "#,##0,",
    "0.0,,&quot;M&quot;",
    "_(* #,##0.00_)",
  ];
  const styles = `<styleSheet><numFmts>${codes.map((code, at) => `<numFmt numFmtId="${String(170 + at)}" formatCode="${code}"/>`).join("")}</numFmts>
    <cellXfs>${codes.map((_, at) => `<xf numFmtId="${String(170 + at)}"/>`).join("")}<xf numFmtId="44"/></cellXfs></styleSheet>`;
  const cells = [...codes, "built-in"].map((_, at) => ({
    xml: `<c s="${String(at)}"><v>1250000</v></c>`,
  }));
  expect(await firstRow(cells, styles)).toEqual([
    number("1250000", ["USDC"]),
    number("1250000", ["€"]),
    number("1250000", ["$"]),
    number("1250000", ["USD"]),
    "1250000, shown in thousands or millions",
    "1250000, shown in thousands or millions",
    number("1250000"),
    number("1250000", ["$"]),
  ]);
});

test("a stored number with more digits than a spreadsheet keeps is marked; 0.1 + 0.2 is 0.3", async () => {
  expect(
    await firstRow([
      { xml: "<c><v>1234567890123456789</v></c>" },
      { xml: "<c><v>0.30000000000000004</v></c>" },
      { xml: "<c><v>1E+3</v></c>" },
    ]),
  ).toEqual([{ ...number("1234567890123456789"), cut: true }, number("0.3"), number("1000")]);
});

test("furigana of an inline cell is not part of its text", async () => {
  expect(
    await firstRow([
      {
        xml: '<c t="inlineStr"><is><r><t>東</t></r><r><t>京</t></r><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></is></c>',
      },
    ]),
  ).toEqual(["東京"]);
});
