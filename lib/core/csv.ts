/**
 * Spreadsheets treat a cell that begins with `=`, `+`, `-` or `@` as a formula (OWASP, CSV
 * injection). Some skip spaces and invisible characters before the sign, or drop a leading tab or
 * line end, so such cells are guarded too.
 */
const FORMULA_START = /^[\t\r\n]|^[\s\p{Cc}\p{Cf}]*[=+\-@]/u;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * The value of one cell. `raw` is a number in text form. It may begin with a minus sign and is not
 * treated as a formula.
 */
export type CsvCell = string | number | bigint | null | { readonly raw: string };

/** Text from `csvLine`. Downloads accept only this type, so that no export can omit the guard. */
export type CsvText = string & { readonly [csvText]: true };
declare const csvText: unique symbol;

/**
 * Whether a spreadsheet could run the text as a formula. Spreadsheets in East Asian locales treat
 * full-width signs such as `＝` like ASCII signs, and NFKC converts them to ASCII signs.
 */
const isFormula = (text: string): boolean =>
  FORMULA_START.test(text) || FORMULA_START.test(text.normalize("NFKC"));

const toCell = (value: CsvCell): string => {
  if (value === null) return "";
  if (typeof value === "object") {
    if (!/^-?[0-9]+(\.[0-9]+)?$/.test(value.raw))
      throw new TypeError("A raw cell is not a number.");
    return value.raw;
  }
  if (typeof value !== "string") return value.toString();
  // With an apostrophe in front, spreadsheets treat the cell as text.
  const text = isFormula(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/**
 * One record of a CSV file (RFC 4180) with its line end. Text that a spreadsheet would run as a
 * formula gets an apostrophe in front. Null becomes an empty cell.
 * @throws TypeError when a `raw` cell is not a number
 * @example csvLine(["=1+1", { raw: "-2.5" }, null]) // "'=1+1,-2.5,\r\n"
 */
export const csvLine = (cells: readonly CsvCell[]): CsvText =>
  `${cells.map(toCell).join(",")}\r\n` as CsvText;

/** Joins CSV lines into one text. */
export const joinCsv = (lines: readonly CsvText[]): CsvText => lines.join("") as CsvText;
