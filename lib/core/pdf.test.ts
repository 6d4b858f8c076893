import { expect, test } from "vitest";
import { tablePdf } from "./pdf";

const COLUMNS = [
  { header: "When", width: 10 },
  { header: "Amount", width: 12, align: "right" },
] as const;
const table = (rows: readonly (readonly string[])[]) => ({
  title: "Statement",
  facts: [["Account", "Müller (1)"]] as const,
  columns: COLUMNS,
  rows,
  closing: [["Closing balance", "1,250.00 USDC"]] as const,
});

test("every object stands where the table of offsets says", () => {
  const file = tablePdf(table([["2026-11-25", "1.50"]]));
  const at = Number(/startxref\n(\d+)/.exec(file)?.[1]);
  const offsets = [...file.slice(at).matchAll(/^(\d{10}) 00000 n /gm)].map(([, offset]) =>
    Number(offset),
  );
  expect(file.slice(at, at + 4)).toBe("xref");
  expect(offsets.length).toBeGreaterThan(6);
  for (const [index, offset] of offsets.entries())
    expect(file.slice(offset)).toMatch(new RegExp(`^${String(index + 1)} 0 obj\n`));
  for (const [, length, content] of file.matchAll(
    /\/Length (\d+) >>\nstream\n([^]*?)\nendstream/g,
  ))
    expect(content).toHaveLength(Number(length));
});

test("amounts stand on the right, texts are escaped, and characters are single bytes", () => {
  const file = tablePdf(
    table([
      ["2026-11-25", "1.50"],
      ["a very long cell", "日"],
    ]),
  );
  expect(file).toContain("(2026-11-25          1.50)");
  expect(file).toContain("M\\374ller \\(1\\)");
  expect(file).toContain("a very lo\\205");
  expect(file).toMatch(/ \\077\) Tj/);
  expect(file).not.toMatch(/[^ -~\n]/);
});

test("rows that do not fit on a page go on with the next, under the same head", () => {
  const rows = Array.from({ length: 100 }, (_, index) => [
    `day ${String(index)}`,
    String(index),
  ]);
  const file = tablePdf(table(rows));
  const pages = file.match(/\/Type \/Page /g)?.length ?? 0;
  expect(pages).toBeGreaterThan(2);
  expect(file.match(/\(When {14}Amount\)/g)).toHaveLength(pages);
  for (const [day] of rows) expect(file).toContain(`(${String(day)} `);
  expect(file).toContain("Closing balance");
});

test("an amount that is wider than its column goes on in the next line, whole; other texts are cut", () => {
  const columns = [
    { header: "When", width: 6 },
    { header: "Amount", width: 12, align: "right" },
    { header: "Token", width: 6, isWhole: true },
  ] as const;
  const amount = "123456789.123456789012345678";
  const file = tablePdf({ ...table([["2026-11-25", amount, "LONGNAME"]]), columns });
  expect(file).toContain("(2026-\\205  123456789.12  LONGNA)");
  expect(file).toContain("(        345678901234  ME    )");
  expect(file).toContain("(                5678        )");
});
