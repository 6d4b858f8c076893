/** Spreadsheets run a cell that begins with one of these as a formula (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** A value of one cell. `raw` is a number as text, which may begin with a minus sign and is not taken for a formula. */
export type CsvCell = string | number | bigint | null | { readonly raw: string };

const toCell = (value: CsvCell): string => {
  if (value === null) return "";
  if (typeof value === "object") {
    if (!/^-?[0-9]+(\.[0-9]+)?$/.test(value.raw)) throw new TypeError("A raw cell is not a number.");
    return value.raw;
  }
  if (typeof value !== "string") return value.toString();
  // The apostrophe makes a spreadsheet take the rest as text.
  const text = FORMULA_START.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * One record of a CSV file (RFC 4180) with its line end. Text that a spreadsheet would run as a formula gets an apostrophe in front;
 * null becomes an empty cell.
 * @throws TypeError when a `raw` cell is not a number
 * @example csvLine(["=1+1", { raw: "-2.5" }, null]) // "'=1+1,-2.5,\r\n"
 */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(toCell).join(",")}\r\n`;
