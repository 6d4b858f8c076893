import Papa from "papaparse";
import { countText } from "@/lib/core/amount-text";

/** A cell that the file stores as a number, not as text. */
export interface NumberCell {
  /** Decimal digits without separators. */
  readonly number: string;
  /** Words and signs that the cell's format shows beside the number, such as `$` or `USDC`. */
  readonly units: readonly string[];
  /**
   * Whether the file has more digits than a spreadsheet keeps, so that the intended number is
   * unknown.
   */
  readonly cut: boolean;
}

export type Cell = string | NumberCell;

export interface Table {
  readonly rows: readonly (readonly Cell[])[];
  /** Line of the file (or row of the sheet) that each row begins on, from 1. */
  readonly lines: readonly number[];
  readonly notices: readonly string[];
}

/** Thrown when a file is refused. The message gives the person the reason and the next step. */
export class RefusedFileError extends Error {
  override readonly name = "RefusedFileError";
}

export const SPREADSHEET_DAMAGED =
  "The spreadsheet is damaged. Open it, save it again as XLSX, or save it as CSV.";

/**
 * Maximum size of a file. Larger files are refused without being read. The rows of a payout need
 * far less; the rest is room for other columns.
 */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Number of rows after which the reader stops. The error for a larger file says only that it has
 * more rows.
 */
export const TABLE_ROWS_MAX = 200_000;

/** Columns beyond this number are not read. */
export const TABLE_COLUMNS_MAX = 64;

/**
 * Maximum number of characters in a cell. A file with a longer cell is refused, because it probably
 * has an unclosed quote or is another kind of file.
 */
export const CELL_LENGTH_MAX = 10_000;

/**
 * Maximum number of characters in all cells together. It is limited, because a small spreadsheet
 * can repeat a long text in every cell.
 */
export const TABLE_TEXT_MAX = 32 * 1024 * 1024;

export const cellText = (cell: Cell | undefined): string => {
  if (cell === undefined) return "";
  return typeof cell === "string" ? cell : cell.number;
};

const LENGTH_SHOWN = 40;

/** A text of the file inside a sentence, shortened. */
export const quoted = (text: string): string =>
  `"${text.length > LENGTH_SHOWN ? `${text.slice(0, LENGTH_SHOWN)}…` : text}"`;

const AROUND = /^[\s\u200B\uFEFF]+|[\s\u200B\uFEFF]+$/g;

/**
 * Matches the apostrophe that spreadsheets and our own exports put before a text that would
 * otherwise be run as a formula.
 */
const GUARD = /^'(?=[=+\-@\t\r])/;

/**
 * The text of a cell without surrounding spaces and without the apostrophe that guards a formula.
 */
export const cleanText = (text: string): string => text.replace(AROUND, "").replace(GUARD, "");

const DELIMITERS = [",", ";", "\t", "|"];

const GUESS_CHARACTERS = 64 * 1024;

/** Matches Excel's delimiter line, such as `sep=;`. */
const SEPARATOR_LINE = /^\uFEFF?sep=(.)\n/i;

/**
 * Rates a delimiter by the share of sample rows that have as many cells as the first row. The score
 * is 0 when the first row has only one cell.
 */
const scoreOf = (sample: string, delimiter: string): number => {
  const counts = Papa.parse<string[]>(sample, {
    delimiter,
    newline: "\n",
    preview: 50,
    skipEmptyLines: "greedy",
  }).data.map((cells) => cells.length);
  const first = counts[0] ?? 1;
  if (first === 1) return 0;
  // Equal rows count more than many cells, because commas inside amounts and notes split rows
  // unevenly.
  return (
    (counts.filter((count) => count === first).length / counts.length) * 100 +
    Math.min(first, TABLE_COLUMNS_MAX)
  );
};

const delimiterOf = (text: string): string => {
  const cut = text.slice(0, GUESS_CHARACTERS);
  const sample =
    cut.length < text.length ? cut.slice(0, Math.max(cut.lastIndexOf("\n"), 1)) : cut;
  const scores = DELIMITERS.map((delimiter) => ({
    delimiter,
    score: scoreOf(sample, delimiter),
  }));
  return scores.reduce((best, each) => (each.score > best.score ? each : best)).delimiter;
};

const refuseUnclosed = (line: number): never => {
  throw new RefusedFileError(
    `A quote that opens in line ${countText(line)} is never closed. Close or remove it.`,
  );
};

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

/** Matches `0x… 5` and `0x…=5`, the format of Disperse and multisenders. */
const PAIR =
  /^\s*(?<recipient>(?:[a-z0-9:-]+:)?0x[0-9a-f]{40}|ga_[0-9a-z-]+)(?: *= *| +)(?<amount>[^\s,;|=].{0,200})$/i;

const PAIR_HEADING = /^\s*(?<recipient>[a-z_]+)(?: *= *| +)(?<amount>[a-z_]+)\s*$/i;

const pairOf = (line: string, form: RegExp): readonly string[] | null => {
  const { recipient, amount } = form.exec(line)?.groups ?? {};
  return recipient === undefined || amount === undefined
    ? null
    : [recipient, cleanText(amount)];
};

/** Reads lines of an address and an amount; null when a line has another format. */
const parsePairs = (text: string): Table | null => {
  const filled = text
    .split("\n")
    .flatMap((line, at) => (line.trim() === "" ? [] : [{ line, at }]));
  if (filled.length > TABLE_ROWS_MAX) return null;
  const rows = filled.map(({ line }, index) => {
    const pair = pairOf(line, PAIR);
    return pair === null && index === 0 ? pairOf(line, PAIR_HEADING) : pair;
  });
  const pairs = rows.filter((row) => row !== null);
  if (pairs.length < filled.length || !filled.some(({ line }) => PAIR.test(line))) return null;
  return { rows: pairs, lines: filled.map(({ at }) => at + 1), notices: [] };
};

/**
 * Reads the rows of a CSV text (RFC 4180), also with semicolons, tabs or bars, or of lines with an
 * address and an amount. Empty lines are left out.
 * @param delimiter by default the one that fits the text best
 * @throws RefusedFileError
 */
export const parseDelimited = (source: string, delimiter?: string): Table => {
  const unified = source.replace(/\r\n?/g, "\n");
  const hint = SEPARATOR_LINE.exec(unified);
  const text = hint === null ? unified.replace(/^\uFEFF/, "") : unified.slice(hint[0].length);
  const pairs = hint === null && delimiter === undefined ? parsePairs(text) : null;
  if (pairs !== null) return pairs;
  const rows: string[][] = [];
  const lines: number[] = [];
  let widest = 0;
  let line = hint === null ? 1 : 2;
  Papa.parse<string[]>(text, {
    delimiter: delimiter ?? hint?.[1] ?? delimiterOf(text),
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
    notices:
      widest > TABLE_COLUMNS_MAX
        ? [`Only the first ${String(TABLE_COLUMNS_MAX)} columns were read.`]
        : [],
  };
};
