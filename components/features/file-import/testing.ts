import { crc32, deflateRawSync } from "node:zlib";

interface ZipEntry {
  readonly name: string;
  readonly content: string | Buffer;
  /** The size that the ZIP directory states for the entry. Default: its real size. */
  readonly claimedBytes?: number;
}

const localHeader = (
  name: Buffer,
  packed: Buffer,
  content: Buffer,
  claimed: number,
): Buffer => {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(crc32(content), 14);
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt32LE(claimed, 22);
  head.writeUInt16LE(name.length, 26);
  return Buffer.concat([head, name, packed]);
};

const directoryEntry = (name: Buffer, local: Buffer, offset: number): Buffer => {
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  local.copy(head, 6, 4, 30);
  head.writeUInt32LE(offset, 42);
  return Buffer.concat([head, name]);
};

/** A ZIP archive for tests. Its directory can state a false size. */
export const zipOf = (entries: readonly ZipEntry[]): Buffer<ArrayBuffer> => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, claimedBytes } of entries) {
    const bytes = Buffer.from(content);
    const nameBytes = Buffer.from(name);
    const local = localHeader(
      nameBytes,
      deflateRawSync(bytes),
      bytes,
      claimedBytes ?? bytes.length,
    );
    parts.push(local);
    directory.push(directoryEntry(nameBytes, local, offset));
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
};

const escapeXml = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Cells of a sheet: text (shared), a number, or XML of a cell as it is. */
export type SheetCell = string | number | { readonly xml: string };

interface WorkbookParts {
  readonly styles?: string;
  readonly sheets?: string;
  readonly rowAttributes?: (row: number) => string;
}

export const xlsxOf = (
  rows: readonly (readonly SheetCell[])[],
  parts: WorkbookParts = {},
): Buffer<ArrayBuffer> => {
  const texts: string[] = [];
  const cellXml = (cell: SheetCell, at: string): string => {
    if (typeof cell === "object") return cell.xml.replace("<c", `<c r="${at}"`);
    if (typeof cell === "number") return `<c r="${at}"><v>${String(cell)}</v></c>`;
    return `<c r="${at}" t="s"><v>${String(texts.push(cell) - 1)}</v></c>`;
  };
  const sheet = rows
    .map((cells, row) => {
      const inner = cells.map((cell, column) =>
        cellXml(cell, `${String.fromCharCode(65 + column)}${String(row + 1)}`),
      );
      return `<row r="${String(row + 1)}" ${parts.rowAttributes?.(row) ?? ""}>${inner.join("")}</row>`;
    })
    .join("");
  const shared = texts
    .map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`)
    .join("");
  return zipOf([
    {
      name: "xl/workbook.xml",
      content: `<workbook xmlns:r="r"><sheets>${parts.sheets ?? '<sheet name="Payroll" r:id="rId1"/>'}</sheets></workbook>`,
    },
    {
      name: "xl/_rels/workbook.xml.rels",
      content:
        '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    },
    { name: "xl/sharedStrings.xml", content: `<sst>${shared}</sst>` },
    ...(parts.styles === undefined ? [] : [{ name: "xl/styles.xml", content: parts.styles }]),
    {
      name: "xl/worksheets/sheet1.xml",
      content: `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    },
  ]);
};
