import { countText, measureText } from "@/lib/core/amount-text";
import { decodeText } from "./decode-text";
import { parseDelimited } from "./delimited";
import { parseSpreadsheet } from "./spreadsheet";
import { FILE_BYTES_MAX, RefusedFileError, TABLE_ROWS_MAX, type Table } from "./table";

const MIB = 1024 * 1024;

export const mebibytes = (bytes: number): string => `${measureText(bytes / MIB)} MiB`;

const startsWith = (bytes: Uint8Array, ...head: number[]): boolean => head.every((byte, at) => bytes[at] === byte);

/** By size alone, before anything is read; null where it may be read. */
export const sizeProblem = (bytes: number): string | null => {
  if (bytes === 0) return "The file is empty. Choose a file with one row for each payment.";
  return bytes > FILE_BYTES_MAX
    ? `The file has ${mebibytes(bytes)}; at most ${mebibytes(FILE_BYTES_MAX)} can be read. Split it into smaller files.`
    : null;
};

const tableOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<Table> => {
  if (startsWith(bytes, 0x50, 0x4b, 0x03, 0x04)) return parseSpreadsheet(bytes);
  if (startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0))
    throw new RefusedFileError(
      "This spreadsheet is in the old XLS format or has a password. Save it as XLSX without a password.",
    );
  const { text, notices } = decodeText(bytes);
  const table = parseDelimited(text);
  return { ...table, notices: [...notices, ...table.notices] };
};

/** Rows of a CSV or XLSX file, whatever its name. @throws RefusedFileError with a sentence for the person who chose the file */
export const readTable = async (file: Blob, rowsMax: number): Promise<Table> => {
  const problem = sizeProblem(file.size);
  if (problem !== null) throw new RefusedFileError(problem);
  const table = await tableOf(new Uint8Array(await file.arrayBuffer()));
  const count = table.rows.length;
  if (count === 0) throw new RefusedFileError("The file has no rows. Choose a file with one row for each payment.");
  // One line more may be the header.
  if (count > rowsMax + 1) {
    const counted = count > TABLE_ROWS_MAX ? `more than ${countText(TABLE_ROWS_MAX)}` : countText(count);
    throw new RefusedFileError(
      `The file has ${counted} rows; a payout takes at most ${countText(rowsMax)}. Split it into ${count > TABLE_ROWS_MAX ? "several" : String(Math.ceil(count / rowsMax))} files.`,
    );
  }
  return table;
};
