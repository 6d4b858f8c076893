/** Spreadsheets run a cell that begins with one of these as a formula (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** `raw` is a number as text, which may begin with a minus. */
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

/** One record of a CSV file (RFC 4180), its line end included. Text that a spreadsheet would run is made harmless; null is empty. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(toCell).join(",")}\r\n`;
