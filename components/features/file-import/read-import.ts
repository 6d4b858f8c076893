import { countText, measureText } from "@/lib/core/amount-text";
import { type BankFile, isXml, parsePain } from "./pain";
import { parseSpreadsheet } from "./spreadsheet";
import {
  FILE_BYTES_MAX,
  parseDelimited,
  RefusedFileError,
  type Table,
  TABLE_ROWS_MAX,
} from "./table";

const MIB = 1024 * 1024;

export const mebibytes = (bytes: number): string => `${measureText(bytes / MIB)} MiB`;

const startsWith = (bytes: Uint8Array, ...head: number[]): boolean =>
  head.every((byte, at) => bytes[at] === byte);

/** Describes the records that an import makes from the rows of a file. */
export interface ImportKind {
  readonly rowsMax: number;
  /** The word for the content of a row, as in "one row for each payment". */
  readonly row: string;
  /** The words for all rows together, as in "a payout takes at most 10,000 rows". */
  readonly whole: string;
  /** Whether payment files of banks are read. */
  readonly banks: boolean;
}

/** The reason why a file of this size cannot be read; null when it can. */
export const sizeProblem = (bytes: number, { row }: Pick<ImportKind, "row">): string | null => {
  if (bytes === 0) return `The file is empty. Choose a file with one row for each ${row}.`;
  return bytes > FILE_BYTES_MAX
    ? `The file has ${mebibytes(bytes)}; at most ${mebibytes(FILE_BYTES_MAX)} can be read. Split it into smaller files.`
    : null;
};

/**
 * The content of a file: a table, whose columns the person assigns, or a bank's payments, whose
 * payees the person matches to addresses.
 */
export type ImportedFile =
  | { readonly kind: "table"; readonly table: Table }
  | { readonly kind: "bank"; readonly bank: BankFile };

const fileOf = async (bytes: Uint8Array<ArrayBuffer>, today: string): Promise<ImportedFile> => {
  if (startsWith(bytes, 0x50, 0x4b, 0x03, 0x04))
    return { kind: "table", table: await parseSpreadsheet(bytes) };
  if (startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0))
    throw new RefusedFileError(
      "This spreadsheet is in the old XLS format or has a password. Save it as XLSX without a password.",
    );
  const { text, notices } = decodeText(bytes);
  if (isXml(text)) {
    const bank = parsePain(text, today);
    return { kind: "bank", bank: { ...bank, notices: [...notices, ...bank.notices] } };
  }
  const table = parseDelimited(text);
  return { kind: "table", table: { ...table, notices: [...notices, ...table.notices] } };
};

const checkCount = (count: number, { rowsMax, whole }: ImportKind): void => {
  if (count <= rowsMax) return;
  const counted =
    count > TABLE_ROWS_MAX ? `more than ${countText(TABLE_ROWS_MAX)}` : countText(count);
  throw new RefusedFileError(
    `The file has ${counted} rows; ${whole} takes at most ${countText(rowsMax)}. Split it into ${count > TABLE_ROWS_MAX ? "several" : String(Math.ceil(count / rowsMax))} files.`,
  );
};

/**
 * Reads a CSV, XLSX or pain.001 file or pasted text. The format is detected from the content, not
 * from the file name.
 *
 * @param today the date in the person's time zone, as `2026-05-01`
 * @throws RefusedFileError with a sentence for the person who chose the file
 */
export const readImport = async (
  file: Blob,
  kind: ImportKind,
  today: string,
): Promise<ImportedFile> => {
  const problem = sizeProblem(file.size, kind);
  if (problem !== null) throw new RefusedFileError(problem);
  const read = await fileOf(new Uint8Array(await file.arrayBuffer()), today);
  if (read.kind === "bank") {
    if (!kind.banks)
      throw new RefusedFileError(
        `This is a payment file of a bank. Choose a CSV or XLSX file with one row for each ${kind.row}.`,
      );
    checkCount(read.bank.payments.length, kind);
    return read;
  }
  const count = read.table.rows.length;
  if (count === 0)
    throw new RefusedFileError(
      `The file has no rows. Choose a file with one row for each ${kind.row}.`,
    );
  // A table may have one row more, which is the header.
  if (count > kind.rowsMax + 1) checkCount(count, kind);
  return read;
};

const SAMPLE_BYTES = 64 * 1024;
/**
 * A text counts as UTF-16 when more than this share of the bytes at even or at odd positions is
 * zero, and less than `BINARY_SHARE` of the bytes at the other positions. Latin letters in UTF-16
 * have a zero in nearly every second byte.
 */
const UTF16_ZERO_SHARE = 0.4;
const BINARY_SHARE = 0.01;
/**
 * A file with at most this many control characters counts as text, because single cells can contain
 * errors.
 */
const STRAY_MAX = 8;

/** The share of zero bytes at even and at odd positions of the file's beginning. */
const zeroShares = (bytes: Uint8Array): readonly [even: number, odd: number] => {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const zeros = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  });
  const half = Math.max(1, sample.length / 2);
  return [(zeros[0] ?? 0) / half, (zeros[1] ?? 0) / half];
};

const isBinary = (bytes: Uint8Array): boolean => {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const controls = sample.filter(
    (byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d,
  ).length;
  return controls > STRAY_MAX && controls / sample.length > BINARY_SHARE;
};

const encodingOf = (bytes: Uint8Array): "utf-16le" | "utf-16be" | null => {
  if (startsWith(bytes, 0xff, 0xfe)) return "utf-16le";
  if (startsWith(bytes, 0xfe, 0xff)) return "utf-16be";
  const [even, odd] = zeroShares(bytes);
  if (odd > UTF16_ZERO_SHARE && even < BINARY_SHARE) return "utf-16le";
  return even > UTF16_ZERO_SHARE && odd < BINARY_SHARE ? "utf-16be" : null;
};

interface DecodedText {
  readonly text: string;
  readonly notices: readonly string[];
}

/**
 * Decodes a file as UTF-8 or UTF-16, otherwise as Windows-1252.
 *
 * @throws RefusedFileError when it is not text
 */
const decodeText = (bytes: Uint8Array): DecodedText => {
  const utf16 = encodingOf(bytes);
  if (utf16 !== null) return { text: new TextDecoder(utf16).decode(bytes), notices: [] };
  if (isBinary(bytes))
    throw new RefusedFileError(
      "This is not a text file. Save the sheet as CSV or XLSX and choose that file.",
    );
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), notices: [] };
  } catch {
    return {
      text: new TextDecoder("windows-1252").decode(bytes),
      notices: [
        "The file is not in UTF-8; it was read as Windows-1252. Check letters with accents.",
      ],
    };
  }
};
