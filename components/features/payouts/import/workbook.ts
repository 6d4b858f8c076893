import { kindOfFormat, type NumberKind } from "./number-format";
import { RefusedFileError } from "./table";
import { walkXml } from "./xml";
import type { Archive } from "./zip";

/** Reads the parts of a workbook that cells refer to, and finds the sheet to read. */
export interface Workbook {
  readonly sheetPath: string;
  readonly sheetName: string;
  readonly sheetsTotal: number;
  readonly calendar: 1900 | 1904;
  readonly sharedTexts: readonly string[];
  /** By the number of a cell's style. */
  readonly kinds: readonly NumberKind[];
}

const WORKBOOK_PATH = "xl/workbook.xml";

const noSheet = (): RefusedFileError => new RefusedFileError("The spreadsheet has no sheet that can be read.");

/** Texts of the cells that say `t="s"`. Phonetic hints inside them are not part of the text. */
const sharedTextsOf = (xml: string | null): string[] => {
  const texts: string[] = [];
  if (xml === null) return texts;
  let text = "";
  let inText = false;
  let phonetic = 0;
  walkXml(xml, {
    open: (name) => {
      if (name === "si") text = "";
      else if (name === "rPh") phonetic += 1;
      inText = name === "t" && phonetic === 0;
    },
    close: (name) => {
      if (name === "si") texts.push(text);
      else if (name === "rPh") phonetic -= 1;
      if (name === "t") inText = false;
    },
    text: (part) => {
      if (inText) text += part;
    },
  });
  return texts;
};

const kindsOf = (xml: string | null): NumberKind[] => {
  const codes = new Map<number, string>();
  const kinds: NumberKind[] = [];
  if (xml === null) return kinds;
  let inCells = false;
  walkXml(xml, {
    open: (name, attributes) => {
      if (name === "cellXfs") inCells = true;
      else if (name === "numFmt") {
        const { numFmtId, formatCode } = attributes();
        codes.set(Number(numFmtId), formatCode ?? "");
      } else if (name === "xf" && inCells) kinds.push(kindOfFormat(Number(attributes().numFmtId ?? 0), codes));
    },
    close: (name) => {
      if (name === "cellXfs") inCells = false;
    },
  });
  return kinds;
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

const sheetsOf = (xml: string): { readonly sheets: readonly SheetEntry[]; readonly calendar: 1900 | 1904 } => {
  const sheets: SheetEntry[] = [];
  let calendar: 1900 | 1904 = 1900;
  walkXml(xml, {
    open: (tag, attributes) => {
      if (tag === "workbookPr" && /^(1|true)$/.test(attributes().date1904 ?? "")) calendar = 1904;
      if (tag !== "sheet") return;
      const { name = "", state, "r:id": relation = "" } = attributes();
      sheets.push({ name, relation, hidden: state === "hidden" || state === "veryHidden" });
    },
  });
  return { sheets, calendar };
};

const pathOfTarget = (target: string): string =>
  target.startsWith("/") ? target.slice(1) : `xl/${target.replace(/^\.\//, "")}`;

/** The first sheet that is not hidden, and the data that its cells refer to. @throws RefusedFileError */
export const readWorkbook = async (archive: Archive): Promise<Workbook> => {
  const xml = await archive.text(WORKBOOK_PATH);
  if (xml === null)
    throw new RefusedFileError("This is not an XLSX spreadsheet. Save the sheet as XLSX or CSV and choose that file.");
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
    kinds: kindsOf(await archive.text("xl/styles.xml")),
  };
};
