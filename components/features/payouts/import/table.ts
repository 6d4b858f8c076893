/** A cell of an imported file. Numbers come from spreadsheets alone, where the file itself says that the cell is a number. */
export type Cell = string | number;

/** The cells of a file, before its columns are assigned to fields. */
export interface Table {
  readonly rows: readonly (readonly Cell[])[];
  /** Line of the file (or row of the sheet) that each row begins on, from 1. */
  readonly lines: readonly number[];
  /** Notices for the person about how the file was read. */
  readonly notices: readonly string[];
}

/** A file that is not read; the message gives the reason and the next step. */
export class RefusedFileError extends Error {
  override readonly name = "RefusedFileError";
}

/** Bigger files are refused before they are read. A payout's own limit is far lower; this leaves room for other columns. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;
/** Rows are counted up to here, so that the refusal can say how many there are. */
export const TABLE_ROWS_MAX = 200_000;
/** Cells to the right of these are not read. */
export const TABLE_COLUMNS_MAX = 64;
/** Longer cells mean an unclosed quote or another kind of file. */
export const CELL_LENGTH_MAX = 10_000;
/** All cells together: small spreadsheets can repeat one long text in every cell. */
export const TABLE_TEXT_MAX = 32 * 1024 * 1024;

const EXCEL_DIGITS = 15;

/** A spreadsheet's number as the spreadsheet shows it: 15 digits, no exponent. `0.1 + 0.2` is `0.3`. */
export const numberText = (value: number): string => {
  if (!Number.isFinite(value)) return String(value);
  const [mantissa = "0", exponentText = "0"] = value.toExponential(EXCEL_DIGITS - 1).split("e");
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace(/[-.]/g, "").replace(/0+$/, "");
  if (digits === "") return "0";
  const point = Number(exponentText) + 1;
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
};

export const cellText = (cell: Cell | undefined): string =>
  cell === undefined ? "" : typeof cell === "number" ? numberText(cell) : cell;

const AROUND = /^[\s\u200B\uFEFF]+|[\s\u200B\uFEFF]+$/g;
/** Spreadsheets and our own exports put an apostrophe before text that would otherwise be run as a formula. */
const GUARD = /^'(?=[=+\-@\t\r])/;

/** Text of a cell without what only surrounds it. */
export const cleanText = (text: string): string => text.replace(AROUND, "").replace(GUARD, "");
