import { countText } from "@/lib/core/amount-text";
import Papa from "papaparse";
import { CELL_LENGTH_MAX, cleanText, RefusedFileError, TABLE_COLUMNS_MAX, TABLE_ROWS_MAX, type Table } from "./table";

const DELIMITERS = [",", ";", "\t", "|"];
const GUESS_CHARACTERS = 64 * 1024;
/** Excel's own hint: `sep=;` in the first line. */
const SEPARATOR_LINE = /^\uFEFF?sep=(.)\n/i;

/** How many of the first rows have the same number of cells, more than one, when split at the delimiter. */
const scoreOf = (sample: string, delimiter: string): number => {
  const counts = Papa.parse<string[]>(sample, {
    delimiter,
    newline: "\n",
    preview: 50,
    skipEmptyLines: "greedy",
  }).data.map((cells) => cells.length);
  const first = counts[0] ?? 1;
  if (first === 1) return 0;
  // Even rows say more than many cells: commas inside amounts and notes split rows unevenly.
  return (counts.filter((count) => count === first).length / counts.length) * 100 + Math.min(first, TABLE_COLUMNS_MAX);
};

const delimiterOf = (text: string): string => {
  const cut = text.slice(0, GUESS_CHARACTERS);
  const sample = cut.length < text.length ? cut.slice(0, Math.max(cut.lastIndexOf("\n"), 1)) : cut;
  const scores = DELIMITERS.map((delimiter) => ({ delimiter, score: scoreOf(sample, delimiter) }));
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).delimiter;
};

const refuseUnclosed = (line: number): never => {
  throw new RefusedFileError(`A quote that opens in line ${countText(line)} is never closed. Close or remove it.`);
};

/** How many line ends a text has. */
const lineEnds = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
};

const checkedCells = (cells: readonly string[], line: number): string[] => {
  const long = cells.find((cell) => cell.length > CELL_LENGTH_MAX);
  if (long !== undefined)
    throw new RefusedFileError(
      `A cell in line ${countText(line)} has ${countText(long.length)} characters. Check that quotes are closed and that this is the right file.`,
    );
  return cells.map(cleanText);
};

/** Rows of a CSV text (RFC 4180), also with semicolons, tabs or bars. Lines without any content are left out. @throws RefusedFileError */
export const parseDelimited = (source: string): Table => {
  const unified = source.replace(/\r\n?/g, "\n");
  const hint = SEPARATOR_LINE.exec(unified);
  const text = hint === null ? unified.replace(/^\uFEFF/, "") : unified.slice(hint[0].length);
  const rows: string[][] = [];
  const lines: number[] = [];
  let widest = 0;
  let line = hint === null ? 1 : 2;
  Papa.parse<string[]>(text, {
    delimiter: hint?.[1] ?? delimiterOf(text),
    newline: "\n",
    step: ({ data, errors }, parser) => {
      if (errors.some((error) => error.code === "MissingQuotes")) refuseUnclosed(line);
      const cells = checkedCells(data, line);
      if (cells.some((cell) => cell !== "")) {
        widest = Math.max(widest, cells.length);
        rows.push(cells.slice(0, TABLE_COLUMNS_MAX));
        lines.push(line);
      }
      line += 1 + data.reduce((sum, cell) => sum + lineEnds(cell), 0);
      if (rows.length > TABLE_ROWS_MAX) parser.abort();
    },
  });
  return {
    rows,
    lines,
    notices: widest > TABLE_COLUMNS_MAX ? [`Only the first ${String(TABLE_COLUMNS_MAX)} columns were read.`] : [],
  };
};
