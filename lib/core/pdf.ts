/**
 * Writes tables as PDF 1.4 files with the standard fonts that every PDF reader has. Browser-safe,
 * because the browser writes statements with it.
 */

interface PdfColumn {
  readonly header: string;
  /** In characters. */
  readonly width: number;
  readonly align?: "left" | "right";
  /**
   * True to continue a long cell in the next line instead of cutting it with an ellipsis. Default:
   * true for right-aligned cells.
   */
  readonly isWhole?: boolean;
}

export interface PdfTable {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly columns: readonly PdfColumn[];
  readonly rows: readonly (readonly string[])[];
  readonly closing?: readonly (readonly [label: string, value: string])[];
}

// A4, landscape, in points.
const PAGE = { width: 842, height: 595, margin: 40 } as const;
const TITLE_SIZE = 16;
const TEXT_SIZE = 7;
const LINE_HEIGHT = 11;
/** A character of Courier is 0.6 times as wide as the font size. */
const CHARACTER = TEXT_SIZE * 0.6;
const GAP = 2;
const FACT_LABEL = 20;
const TITLE_LINES = 2;
const LINES_PER_PAGE = Math.floor((PAGE.height - 2 * PAGE.margin) / LINE_HEIGHT) - 2;

/** Characters whose Windows-1252 code differs from their Unicode code point. */
const WINDOWS_1252: Readonly<Record<string, number>> = {
  "€": 0x80,
  "…": 0x85,
  "‘": 0x91,
  "’": 0x92,
  "“": 0x93,
  "”": 0x94,
  "•": 0x95,
  "–": 0x96,
  "—": 0x97,
};
const LATIN_1_MAX = 0xff;
const ASCII_PRINTABLE = /^[ -~]$/;
const UNKNOWN = 0x3f;

const codeOf = (character: string): number => {
  const known = WINDOWS_1252[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? UNKNOWN;
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code > LATIN_1_MAX ? UNKNOWN : code;
};

const stringOf = (text: string): string => {
  const parts = Array.from(text, (character) =>
    ASCII_PRINTABLE.test(character)
      ? character.replace(/[\\()]/, "\\$&")
      : `\\${codeOf(character).toString(8).padStart(3, "0")}`,
  );
  return `(${parts.join("")})`;
};

const cut = (text: string, width: number): string => {
  const characters = Array.from(text.replaceAll(/\s+/g, " "));
  return characters.length <= width
    ? characters.join("")
    : `${characters.slice(0, width - 1).join("")}…`;
};

/**
 * The lines of a cell. Amounts are never cut, because an amount without some digits would look like
 * a different amount.
 */
const linesIn = (
  text: string,
  { width, align, isWhole = align === "right" }: PdfColumn,
): readonly string[] => {
  if (!isWhole) return [cut(text, width)];
  return wrapped(text, width);
};

/** Breaks lines between words. A word that is longer than a line continues in the next line. */
const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.trim().split(/\s+/)) {
    const joined = line === "" ? word : `${line} ${word}`;
    const whole = Array.from(joined).length <= width;
    if (!whole && line !== "") lines.push(line);
    const rest = Array.from(whole ? joined : word);
    while (rest.length > width) lines.push(rest.splice(0, width).join(""));
    line = rest.join("");
  }
  return [...lines, line];
};

const padded = (text: string, { width, align }: PdfColumn): string => {
  const space = " ".repeat(width - Array.from(text).length);
  return align === "right" ? space + text : text + space;
};

interface Line {
  readonly text: string;
  readonly bold?: boolean;
}

const linesOf = (
  columns: readonly PdfColumn[],
  cells: readonly string[],
): readonly string[] => {
  const parts = columns.map((column, index) => linesIn(cells[index] ?? "", column));
  const height = Math.max(...parts.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map((column, index) => padded(parts[index]?.[line] ?? "", column))
      .join(" ".repeat(GAP)),
  );
};

const factLine = ([label, value]: readonly [string, string], width: number): Line => ({
  text: label.padEnd(FACT_LABEL) + cut(value, width - FACT_LABEL),
});

/** The lines of each page. Every page repeats the table's header. */
const pagesOf = ({
  facts,
  columns,
  rows,
  closing = [],
}: PdfTable): readonly (readonly Line[])[] => {
  const width = Math.floor((PAGE.width - 2 * PAGE.margin) / CHARACTER);
  const headers = columns.map(({ header }) => header);
  const head = linesOf(columns, headers).map((text): Line => ({ text, bold: true }));
  const blank: Line = { text: "" };
  const above = [
    ...facts.map((fact) => factLine(fact, width)),
    ...(facts.length === 0 ? [] : [blank]),
  ];
  const body = rows.flatMap((cells) => linesOf(columns, cells)).map((text): Line => ({ text }));
  const below =
    closing.length === 0 ? [] : [blank, ...closing.map((fact) => factLine(fact, width))];
  const rest = [...body, ...below];
  const pages: Line[][] = [];
  const room = (): number =>
    LINES_PER_PAGE - head.length - (pages.length === 0 ? above.length + TITLE_LINES : 0);
  do {
    const first = pages.length === 0 ? above : [];
    pages.push([...first, ...head, ...rest.splice(0, Math.max(1, room()))]);
  } while (rest.length > 0);
  return pages;
};

const showText = (
  font: string,
  size: number,
  at: { x: number; y: number },
  text: string,
): string =>
  `BT /${font} ${String(size)} Tf ${String(at.x)} ${String(at.y)} Td ${stringOf(text)} Tj ET`;

const contentOf = (
  title: string,
  lines: readonly Line[],
  page: number,
  pages: number,
): string => {
  const top = PAGE.height - PAGE.margin;
  const offset = page === 1 ? TITLE_LINES : 0;
  const x = PAGE.margin;
  return [
    ...(page === 1 ? [showText("F1", TITLE_SIZE, { x, y: top - TITLE_SIZE }, title)] : []),
    ...lines.map(({ text, bold = false }, index) =>
      showText(
        bold ? "F3" : "F2",
        TEXT_SIZE,
        { x, y: top - (index + 1 + offset) * LINE_HEIGHT },
        text,
      ),
    ),
    showText(
      "F2",
      TEXT_SIZE,
      { x, y: PAGE.margin / 2 },
      `${title}, page ${String(page)} of ${String(pages)}`,
    ),
  ].join("\n");
};

const FONTS = ["Helvetica-Bold", "Courier", "Courier-Bold"] as const;
const FIRST_PAGE = 3 + FONTS.length;

/**
 * Writes a table as a PDF file.
 * @returns the file; every character is one byte
 */
export const tablePdf = (table: PdfTable): string => {
  const pages = pagesOf(table);
  const fonts = FONTS.map((_, index) => `/F${String(index + 1)} ${String(3 + index)} 0 R`).join(
    " ",
  );
  const kids = pages.map((_, index) => `${String(FIRST_PAGE + 2 * index)} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${String(pages.length)} /MediaBox [0 0 ${String(PAGE.width)} ${String(PAGE.height)}] /Resources << /Font << ${fonts} >> >> >>`,
    ...FONTS.map(
      (name) =>
        `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`,
    ),
    ...pages.flatMap((lines, index) => {
      const content = contentOf(table.title, lines, index + 1, pages.length);
      return [
        `<< /Type /Page /Parent 2 0 R /Contents ${String(FIRST_PAGE + 2 * index + 1)} 0 R >>`,
        `<< /Length ${String(content.length)} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = String(objects.length + 1);
  const table1 = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}`;
  return `${file}${table1}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${String(file.length)}\n%%EOF\n`;
};
