import { countText } from "@/lib/core/amount-text";
import { dateText } from "./number-format";
import {
  CELL_LENGTH_MAX,
  cleanText,
  numberText,
  RefusedFileError,
  TABLE_COLUMNS_MAX,
  TABLE_ROWS_MAX,
  TABLE_TEXT_MAX,
  type Cell,
  type Table,
} from "./table";
import { readWorkbook, type Workbook } from "./workbook";
import { walkXml, type Attributes } from "./xml";
import { openArchive } from "./zip";

/** All parts that are read, unpacked. 200,000 rows of a payout have about 50 MiB. */
export const EXPANDED_BYTES_MAX = 96 * 1024 * 1024;

/** `B12` → 1; −1 where it names no column. */
const columnOf = (reference: string | undefined): number => {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0] ?? "";
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
};

const numberCell = (text: string, kind: Workbook["kinds"][number], calendar: Workbook["calendar"]): Cell => {
  const value = Number(text);
  if (!Number.isFinite(value)) return text;
  if (kind === "date") return dateText(value, calendar);
  return kind === "percent" ? `${numberText(value * 100)}%` : value;
};

interface OpenCell {
  readonly attributes: Attributes;
  value: string;
  inline: string;
  formula: string;
}

const toCell = (cell: OpenCell, book: Workbook): Cell => {
  const { t: type = "n", s: style = "0" } = cell.attributes;
  if (type === "inlineStr") return cell.inline;
  // A formula without a stored result was never computed; as text it is shown, and refused where a number is wanted.
  if (cell.value === "") return cell.formula === "" ? "" : `=${cell.formula}`;
  if (type === "s") return book.sharedTexts[Number(cell.value)] ?? "";
  if (type === "b") return cell.value === "1" ? "TRUE" : "FALSE";
  return type === "n" ? numberCell(cell.value, book.kinds[Number(style)] ?? "number", book.calendar) : cell.value;
};

const tooMuchText = (): RefusedFileError =>
  new RefusedFileError("The spreadsheet holds more text than a payout can. Keep only the rows to pay.");

/** Collects cells into rows, within the bounds of a table. */
const createCollector = () => {
  const rows: Cell[][] = [];
  const lines: number[] = [];
  let row: Cell[] = [];
  let characters = 0;
  let cut = false;
  return {
    rows,
    lines,
    isCut: () => cut,
    begin: () => {
      row = [];
    },
    put: (column: number, cell: Cell, line: number): void => {
      const at = column < 0 ? row.length : column;
      if (at >= TABLE_COLUMNS_MAX) {
        cut = true;
        return;
      }
      const clean = typeof cell === "string" ? cleanText(cell) : cell;
      const length = typeof clean === "string" ? clean.length : 0;
      if (length > CELL_LENGTH_MAX)
        throw new RefusedFileError(`A cell in row ${countText(line)} has ${countText(length)} characters.`);
      characters += length;
      if (characters > TABLE_TEXT_MAX) throw tooMuchText();
      while (row.length < at) row.push("");
      row[at] = clean;
    },
    end: (line: number): void => {
      if (rows.length > TABLE_ROWS_MAX || row.every((cell) => cell === "")) return;
      rows.push(row);
      lines.push(line);
    },
  };
};

/** The rows of one sheet, and how many of them are hidden, because people do not see hidden rows in the spreadsheet. */
const readSheet = (xml: string, book: Workbook) => {
  const collector = createCollector();
  let line = 0;
  let hidden = 0;
  let cell: OpenCell | null = null;
  let part: "value" | "inline" | "formula" | null = null;
  const parts = { v: "value", t: "inline", f: "formula" } as const;
  walkXml(xml, {
    open: (name, attributes) => {
      part = Object.hasOwn(parts, name) ? parts[name as keyof typeof parts] : null;
      if (name === "c") cell = { attributes: attributes(), value: "", inline: "", formula: "" };
      if (name !== "row") return;
      const { r, hidden: isHidden } = attributes();
      line = r === undefined ? line + 1 : Number(r);
      if (isHidden === "1" || isHidden === "true") hidden += 1;
      collector.begin();
    },
    text: (text) => {
      if (cell !== null && part !== null) cell[part] += text;
    },
    close: (name) => {
      part = null;
      if (name === "row") collector.end(line);
      if (name !== "c" || cell === null) return;
      collector.put(columnOf(cell.attributes.r), toCell(cell, book), line);
      cell = null;
    },
  });
  return { rows: collector.rows, lines: collector.lines, cut: collector.isCut(), hidden };
};

/**
 * Rows of the first visible sheet of an XLSX file. Numbers stay numbers; dates and shares become text, so that a cell that a
 * spreadsheet turned into a date is never paid as an amount.
 * @throws RefusedFileError
 */
export const parseSpreadsheet = async (bytes: Uint8Array<ArrayBuffer>): Promise<Table> => {
  const archive = openArchive(bytes, EXPANDED_BYTES_MAX);
  const book = await readWorkbook(archive);
  const xml = await archive.text(book.sheetPath);
  if (xml === null) throw new RefusedFileError("The spreadsheet has no sheet that can be read.");
  const { rows, lines, cut, hidden } = readSheet(xml, book);
  return {
    rows,
    lines,
    notices: [
      ...(book.sheetsTotal > 1
        ? [`Only the sheet "${book.sheetName}" was read, the first of ${String(book.sheetsTotal)}.`]
        : []),
      ...(hidden > 0 ? [`${countText(hidden)} rows are hidden in the spreadsheet; they were read too.`] : []),
      ...(cut ? [`Only the first ${String(TABLE_COLUMNS_MAX)} columns were read.`] : []),
    ],
  };
};
