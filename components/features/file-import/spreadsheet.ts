import { countText } from "@/lib/core/amount-text";
import {
  type Cell,
  CELL_LENGTH_MAX,
  cellText,
  cleanText,
  RefusedFileError,
  type Table,
  TABLE_COLUMNS_MAX,
  TABLE_ROWS_MAX,
  TABLE_TEXT_MAX,
} from "./table";
import { type Attributes, walkXml } from "./xml";
import { type Archive, openArchive } from "./zip";

/** Maximum unpacked size of all parts together. 200,000 rows have about 50 MiB. */
export const EXPANDED_BYTES_MAX = 96 * 1024 * 1024;

/** `B12` → 1; −1 when the reference names no column. */
const columnOf = (reference: string | undefined): number => {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0] ?? "";
  return (
    Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
  );
};

const numberCell = (
  text: string,
  { kind, units }: NumberFormat,
  calendar: Workbook["calendar"],
): Cell => {
  const stored = storedNumber(text, kind === "percent" ? 2 : 0);
  if (stored === null) return text;
  if (kind === "date") return dateText(Number(text), calendar);
  if (kind === "percent") return `${stored.plain}%`;
  if (kind === "scaled") return `${stored.plain}, shown in thousands or millions`;
  return { number: stored.plain, units, cut: stored.cut };
};

interface OpenCell {
  readonly attributes: Attributes;
  value: string;
  formula: string;
}

const toCell = (cell: OpenCell, inline: string, book: Workbook): Cell => {
  const { t: type = "n", s: style = "0" } = cell.attributes;
  if (type === "inlineStr") return inline;
  // A formula without a stored result was never computed. It becomes text, which is not accepted as
  // an amount.
  if (cell.value === "") return cell.formula === "" ? "" : `=${cell.formula}`;
  if (type === "s") return book.sharedTexts[Number(cell.value)] ?? "";
  if (type === "b") return cell.value === "1" ? "TRUE" : "FALSE";
  return type === "n"
    ? numberCell(cell.value, book.formats[Number(style)] ?? PLAIN_FORMAT, book.calendar)
    : cell.value;
};

const tooMuchText = (): RefusedFileError =>
  new RefusedFileError(
    "The spreadsheet holds more text than a payout can. Keep only the rows to pay.",
  );

/**
 * Collects cells into rows. Drops columns and rows beyond the limits of a table.
 *
 * @throws RefusedFileError when a cell or the whole table has too much text
 */
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
      const length = cellText(clean).length;
      if (length > CELL_LENGTH_MAX)
        throw new RefusedFileError(
          `A cell in row ${countText(line)} has ${countText(length)} characters.`,
        );
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

/**
 * Reads the rows of a sheet. Also counts the hidden rows, because people do not see them in the
 * spreadsheet and need a notice.
 */
const readSheet = (xml: string, book: Workbook) => {
  const collector = createCollector();
  let line = 0;
  let hidden = 0;
  let cell: OpenCell | null = null;
  let part: "value" | "formula" | null = null;
  const inline = createTextCollector();
  const parts = { v: "value", f: "formula" } as const;
  walkXml(xml, {
    open: (name, attributes) => {
      inline.open(name);
      part = Object.hasOwn(parts, name) ? parts[name as keyof typeof parts] : null;
      if (name === "c") cell = { attributes: attributes(), value: "", formula: "" };
      if (name !== "row") return;
      const { r, hidden: isHidden } = attributes();
      line = r === undefined ? line + 1 : Number(r);
      if (isHidden === "1" || isHidden === "true") hidden += 1;
      collector.begin();
    },
    text: (text) => {
      if (cell === null) return;
      if (part === null) inline.text(text);
      else cell[part] += text;
    },
    close: (name) => {
      part = null;
      inline.close(name);
      if (name === "row") collector.end(line);
      if (name !== "c" || cell === null) return;
      collector.put(columnOf(cell.attributes.r), toCell(cell, inline.take(), book), line);
      cell = null;
    },
  });
  return { rows: collector.rows, lines: collector.lines, cut: collector.isCut(), hidden };
};

/**
 * Reads the rows of the first visible sheet of an XLSX file. Dates and percentages become text, so
 * that a cell which a spreadsheet turned into a date is never paid as an amount.
 * @throws RefusedFileError
 */
export const parseSpreadsheet = async (bytes: Uint8Array<ArrayBuffer>): Promise<Table> => {
  const archive = openArchive(bytes, EXPANDED_BYTES_MAX);
  const book = await readWorkbook(archive);
  const xml = await archive.text(book.sheetPath);
  if (xml === null) throw noSheet();
  const { rows, lines, cut, hidden } = readSheet(xml, book);
  return {
    rows,
    lines,
    notices: [
      ...(book.sheetsTotal > 1
        ? [
            `Only the sheet "${book.sheetName}" was read, the first of ${String(book.sheetsTotal)}.`,
          ]
        : []),
      ...(hidden > 0
        ? [`${countText(hidden)} rows are hidden in the spreadsheet; they were read too.`]
        : []),
      ...(cut ? [`Only the first ${String(TABLE_COLUMNS_MAX)} columns were read.`] : []),
    ],
  };
};

/** The sheet to read, and the parts of a workbook that its cells refer to. */
interface Workbook {
  readonly sheetPath: string;
  readonly sheetName: string;
  readonly sheetsTotal: number;
  readonly calendar: 1900 | 1904;
  readonly sharedTexts: readonly string[];
  /** Indexed by the number of a cell's style. */
  readonly formats: readonly NumberFormat[];
}

const WORKBOOK_PATH = "xl/workbook.xml";

const noSheet = (): RefusedFileError =>
  new RefusedFileError("The spreadsheet has no sheet that can be read.");

/**
 * Collects the text of a cell. Leaves out phonetic hints (furigana), which only say how the text is
 * spoken.
 */
const createTextCollector = () => {
  let text = "";
  let inText = false;
  let phonetic = 0;
  return {
    open: (name: string): void => {
      if (name === "rPh") phonetic += 1;
      inText = name === "t" && phonetic === 0;
    },
    text: (part: string): void => {
      if (inText) text += part;
    },
    close: (name: string): void => {
      if (name === "rPh") phonetic -= 1;
      if (name === "t") inText = false;
    },
    /** Returns the text that was collected since the last call. */
    take: (): string => {
      const collected = text;
      text = "";
      return collected;
    },
  };
};

/** The texts to which cells with `t="s"` refer. */
const sharedTextsOf = (xml: string | null): string[] => {
  const texts: string[] = [];
  if (xml === null) return texts;
  const collector = createTextCollector();
  walkXml(xml, {
    open: collector.open,
    text: collector.text,
    close: (name) => {
      collector.close(name);
      if (name === "si") texts.push(collector.take());
    },
  });
  return texts;
};

const formatsOf = (xml: string | null): NumberFormat[] => {
  const codes = new Map<number, string>();
  const formats: NumberFormat[] = [];
  if (xml === null) return formats;
  let inCells = false;
  walkXml(xml, {
    open: (name, attributes) => {
      if (name === "cellXfs") inCells = true;
      else if (name === "numFmt") {
        const { numFmtId, formatCode } = attributes();
        codes.set(Number(numFmtId), formatCode ?? "");
      } else if (name === "xf" && inCells)
        formats.push(formatOf(Number(attributes().numFmtId ?? 0), codes));
    },
    close: (name) => {
      if (name === "cellXfs") inCells = false;
    },
  });
  return formats;
};

const targetsOf = (xml: string | null): ReadonlyMap<string, string> => {
  const targets = new Map<string, string>();
  if (xml === null) return targets;
  walkXml(xml, {
    open: (name, attributes) => {
      const { Id, Target } = name === "Relationship" ? attributes() : {};
      if (Id !== undefined && Target !== undefined) targets.set(Id, Target);
    },
  });
  return targets;
};

interface SheetEntry {
  readonly name: string;
  readonly relation: string;
  readonly hidden: boolean;
}

const sheetsOf = (
  xml: string,
): { readonly sheets: readonly SheetEntry[]; readonly calendar: 1900 | 1904 } => {
  const sheets: SheetEntry[] = [];
  let calendar: 1900 | 1904 = 1900;
  walkXml(xml, {
    open: (tag, attributes) => {
      if (tag === "workbookPr" && /^(1|true)$/.test(attributes().date1904 ?? ""))
        calendar = 1904;
      if (tag !== "sheet") return;
      const { name = "", state, "r:id": relation = "" } = attributes();
      sheets.push({ name, relation, hidden: state === "hidden" || state === "veryHidden" });
    },
  });
  return { sheets, calendar };
};

const pathOfTarget = (target: string): string =>
  target.startsWith("/") ? target.slice(1) : `xl/${target.replace(/^\.\//, "")}`;

/**
 * Reads the first visible sheet's path and the data that its cells refer to.
 * @throws RefusedFileError
 */
const readWorkbook = async (archive: Archive): Promise<Workbook> => {
  const xml = await archive.text(WORKBOOK_PATH);
  if (xml === null)
    throw new RefusedFileError(
      "This is not an XLSX spreadsheet. Save the sheet as XLSX or CSV and choose that file.",
    );
  const { sheets, calendar } = sheetsOf(xml);
  const targets = targetsOf(await archive.text("xl/_rels/workbook.xml.rels"));
  const sheet = sheets.find(({ hidden }) => !hidden);
  const target = sheet === undefined ? undefined : targets.get(sheet.relation);
  if (sheet === undefined || target === undefined) throw noSheet();
  return {
    sheetPath: pathOfTarget(target),
    sheetName: sheet.name,
    sheetsTotal: sheets.length,
    calendar,
    sharedTexts: sharedTextsOf(await archive.text("xl/sharedStrings.xml")),
    formats: formatsOf(await archive.text("xl/styles.xml")),
  };
};

/**
 * How a spreadsheet shows a number. Only `number` is accepted as an amount, because the other kinds
 * show a value that differs from the stored one.
 */
type NumberKind = "number" | "date" | "percent" | "scaled";

interface NumberFormat {
  readonly kind: NumberKind;
  readonly units: readonly string[];
}

const PLAIN_FORMAT: NumberFormat = { kind: "number", units: [] };

const PERCENT_IDS = new Set([9, 10]);
/** Built-in formats with the dollar sign. A file with another currency defines its own format. */
const CURRENCY_IDS = new Set([5, 6, 7, 8, 42, 44]);
/**
 * Whether a built-in format shows dates or times (ECMA-376, 18.8.30), also in East Asian languages.
 */
const isDateId = (id: number): boolean =>
  (id >= 14 && id <= 22) ||
  (id >= 27 && id <= 36) ||
  (id >= 45 && id <= 47) ||
  (id >= 50 && id <= 58);

const TEXTS =
  /"(?<quoted>[^"]*)"|\\(?<escaped>.)|\[\$(?<currency>[^\]-]*)[^\]]*\]|(?<sign>\p{Sc})/gu;
/** Matches a comma after the last digit, which divides the shown number by a thousand. */
const SCALED = /[0#?],+(?![0#?,])/;

/** The units in a number format. Adjacent characters make one unit, as in `\U\S\D`. */
const unitsOf = (section: string): readonly string[] => {
  const texts = section
    .replace(/_.|\*./gu, "")
    .replace(TEXTS, (_, ...rest) => {
      const { quoted, escaped, currency, sign } = rest.at(-1) as Record<
        string,
        string | undefined
      >;
      return `\uE000${quoted ?? escaped ?? currency ?? sign ?? ""}\uE001`;
    })
    .replaceAll("\uE001\uE000", "");
  return [...texts.matchAll(/\uE000([^\uE001]*)\uE001/g)]
    .map(([, text = ""]) => text.trim())
    .filter((text) => /[\p{L}\p{Sc}]/u.test(text));
};

/** Reads a format that the file defines, such as `#,##0.00` or `d/m/yyyy`. */
const formatOfCode = (code: string): NumberFormat => {
  const [section = ""] = code.split(";");
  const bare = code.replace(/"[^"]*"|\\.|\[[^\]]*\]|_.|\*./g, "").replace(/general/gi, "");
  if (bare.includes("%")) return { kind: "percent", units: [] };
  if (/[ymdhs]/i.test(bare)) return { kind: "date", units: [] };
  const [first = ""] = bare.split(";");
  const kind = SCALED.test(first) ? "scaled" : "number";
  return { kind, units: unitsOf(section) };
};

const formatOf = (id: number, codes: ReadonlyMap<number, string>): NumberFormat => {
  const code = codes.get(id);
  if (code !== undefined) return formatOfCode(code);
  if (PERCENT_IDS.has(id)) return { kind: "percent", units: [] };
  if (isDateId(id)) return { kind: "date", units: [] };
  return CURRENCY_IDS.has(id) ? { kind: "number", units: ["$"] } : PLAIN_FORMAT;
};

const DAY_MS = 86_400_000;
/**
 * Day 0 of the two calendars. The calendar of 1900 counts a 29 February 1900, which never existed,
 * so only dates from March 1900 are right.
 */
const EPOCHS = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) } as const;

/** `2026-05-01`, with a time when the number has a fraction. */
const dateText = (serial: number, calendar: keyof typeof EPOCHS): string => {
  const at = new Date(EPOCHS[calendar] + Math.round(serial * DAY_MS));
  if (Number.isNaN(at.getTime())) return String(serial);
  const text = at.toISOString();
  return Number.isInteger(serial) ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
};

/** Number of significant digits that a spreadsheet keeps. */
const KEPT_DIGITS = 15;
/** Number of digits that identify a 64-bit float. */
const DOUBLE_DIGITS = 17;
/** Results such as 0.1 + 0.2 differ from the intended number by at most this many float steps. */
const NOISE_STEPS = 2;
const EXPONENT_MAX = 400;
const STORED =
  /^(?<sign>[-+]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:[eE](?<exponent>[-+]?\d{1,3}))?$/;

/** 0.`digits` × 10^`point`, without zeros around the digits. */
interface Digits {
  readonly sign: string;
  readonly digits: string;
  readonly point: number;
}

const digitsOf = (text: string): Digits | null => {
  const {
    sign = "",
    whole = "",
    fraction = "",
    exponent = "0",
  } = STORED.exec(text)?.groups ?? {};
  const all = whole + fraction;
  if (all === "" || Math.abs(Number(exponent)) > EXPONENT_MAX) return null;
  const bare = all.replace(/^0+/, "");
  const point = whole.length + Number(exponent) - (all.length - bare.length);
  return { sign: sign === "-" ? "-" : "", digits: bare.replace(/0+$/, ""), point };
};

const plainOf = ({ sign, digits, point }: Digits): string => {
  if (digits === "") return "0";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** Rounds half up to the digits that a spreadsheet keeps. */
const rounded = (exact: Digits): Digits => {
  const up = exact.digits.charCodeAt(KEPT_DIGITS) >= "5".charCodeAt(0);
  const kept = String(BigInt(exact.digits.slice(0, KEPT_DIGITS)) + (up ? 1n : 0n));
  const carried = kept.length - KEPT_DIGITS;
  return { ...exact, digits: kept.replace(/0+$/, ""), point: exact.point + carried };
};

/** The distance from a number to the next larger 64-bit float. */
const stepAt = (value: number): number => 2 ** (Math.floor(Math.log2(Math.abs(value))) - 52);

/** Whether the digits after the first `KEPT_DIGITS` are only rounding noise of 64-bit floats. */
const isNoise = (exact: Digits, kept: Digits): boolean => {
  if (exact.digits.length > DOUBLE_DIGITS || exact.point > KEPT_DIGITS) return false;
  const stored = Number(plainOf(exact));
  const near = Number(plainOf(kept));
  return (
    stored === near ||
    (kept.digits.length < KEPT_DIGITS && Math.abs(stored - near) <= NOISE_STEPS * stepAt(near))
  );
};

interface StoredNumber {
  readonly plain: string;
  /**
   * Whether the text has more digits than a spreadsheet keeps, and they are not only rounding
   * noise. `plain` then has all of them.
   */
  readonly cut: boolean;
}

/**
 * Reads the text of a number cell without converting it to a float; null when it is not a number.
 * `0.30000000000000004` is read as 0.3, as the spreadsheet shows it.
 *
 * @param shift the power of ten to multiply by: 2 for a percentage
 */
export const storedNumber = (text: string, shift = 0): StoredNumber | null => {
  const read = digitsOf(text);
  if (read === null) return null;
  const exact = { ...read, point: read.point + shift };
  if (exact.digits.length <= KEPT_DIGITS) return { plain: plainOf(exact), cut: false };
  const kept = rounded(exact);
  return isNoise(exact, kept)
    ? { plain: plainOf(kept), cut: false }
    : { plain: plainOf(exact), cut: true };
};
