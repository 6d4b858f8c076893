import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { csvLine, csvRows, type TextRow } from "./manifest";

const ROWS: readonly TextRow[] = [
  ["a", null, ""],
  [null, 'say "yes"', '"'],
  ["two\nlines", "a,b", '""'],
  [null, null, null],
  ['{"x": "\\""}', "ü 🙂", "\r\n"],
];

const read = async (chunks: readonly string[]): Promise<TextRow[]> => {
  const rows: TextRow[] = [];
  for await (const row of csvRows(Readable.from(chunks))) rows.push(row);
  return rows;
};

test("rows come back as they were written, NULL apart from the empty text, wherever the file is cut into chunks", async () => {
  const text = ROWS.map(csvLine).join("");
  expect(await read([text])).toEqual(ROWS);
  expect(await read(text.split(""))).toEqual(ROWS);
  for (let at = 1; at < text.length; at += 1)
    expect(await read([text.slice(0, at), text.slice(at)])).toEqual(ROWS);
});

test("a file that ends within a row, or has another form, is refused", async () => {
  const text = ROWS.map(csvLine).join("");
  await expect(read([text.slice(0, -1)])).rejects.toThrow("ends within a row");
  await expect(read(["a,b\n"])).rejects.toThrow("no CSV of an archive");
});
