import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { hashOf } from "@/lib/platform/os/hashed-file";

/**
 * A row as texts, with null for NULL. In a file it has the format of PostgreSQL's `COPY … CSV`, in
 * which every value is in quotes and NULL is empty.
 */

export type TextRow = readonly (string | null)[];

export const csvLine = (row: TextRow): string =>
  `${row.map((value) => (value === null ? "" : `"${value.replaceAll('"', '""')}"`)).join(",")}\n`;

/**
 * The index of the closing quote of a value that begins before `from`; null when this text does not
 * contain it.
 */
const closingQuote = (text: string, from: number): number | null => {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    // The next character decides whether this quote belongs to the value.
    if (at + 1 >= text.length) return null;
    if (text[at + 1] !== '"') return at;
  }
  return null;
};

/**
 * The row that begins at `from`, and where the next row begins; null when the row is not complete
 * in this text.
 */
const rowAt = (
  text: string,
  from: number,
): { readonly row: TextRow; readonly next: number } | null => {
  const row: (string | null)[] = [];
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1);
      if (end === null) return null;
      row.push(text.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 1;
    } else row.push(null);
    if (text[at] === "\n") return { row, next: at + 1 };
    if (text[at] !== ",") throw new Error("The file is no CSV of an archive.");
  }
  return null;
};

/**
 * The rows of a CSV that `csvLine` wrote.
 * @throws Error when it is truncated, or in a different form of CSV
 */
export const csvRows = async function* (
  chunks: AsyncIterable<string>,
): AsyncGenerator<TextRow> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    let from = 0;
    for (let found = rowAt(text, from); found !== null; found = rowAt(text, from)) {
      yield found.row;
      from = found.next;
    }
    text = text.slice(from);
  }
  if (text !== "") throw new Error("The file ends within a row.");
};

// The file that lists the content of an archive. It is written last, so an archive with a manifest
// is complete.

export const MANIFEST = "manifest.json";
const VERSION = 1;

const archivedFile = z.object({
  table: z.string(),
  file: z.string().regex(/^[a-z_]+\.csv\.gz$/),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
  /** The key of the first row; null when there are no rows. */
  first: z.array(z.string()).nullable(),
  /** The key of the last row; null when there are no rows. */
  last: z.array(z.string()).nullable(),
});

const manifestForm = z.object({
  version: z.literal(VERSION),
  month: z.string(),
  writtenAt: z.string(),
  /** The newest migration of the database when the archive was written. */
  schema: z.string(),
  files: z.array(archivedFile),
  projects: z.array(
    z.object({ projectId: z.string(), first: z.number().int(), last: z.number().int() }),
  ),
});

export type ArchivedFile = z.output<typeof archivedFile>;
export type ArchiveManifest = z.output<typeof manifestForm>;

export const newManifest = (own: Omit<ArchiveManifest, "version">): string =>
  `${JSON.stringify({ version: VERSION, ...own }, null, 1)}\n`;

/** The manifest of a folder; null when the folder has none, and so no complete archive. */
export const readManifest = async (
  folder: string,
): Promise<{ readonly manifest: ArchiveManifest; readonly sha256: string } | null> => {
  const file = join(folder, MANIFEST);
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null
    ? null
    : { manifest: manifestForm.parse(JSON.parse(text)), sha256: await hashOf(file) };
};

export const batchesOf = async function* (
  folder: string,
  { file }: ArchivedFile,
  size: number,
): AsyncGenerator<TextRow[]> {
  const text = createReadStream(join(folder, file)).pipe(createGunzip()).setEncoding("utf8");
  let batch: TextRow[] = [];
  for await (const row of csvRows(text)) {
    batch.push(row);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
};

const CHECKED_AT_ONCE = 10_000;

/**
 * One sentence for each file that is missing, was changed, or has a different number of rows than
 * the manifest says.
 */
export const faultsOf = async (
  folder: string,
  { files }: ArchiveManifest,
): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const one of files) {
    const path = join(folder, one.file);
    const found = await stat(path).catch(() => null);
    if (found === null) faults.push(`${one.file} is missing`);
    else if (found.size !== one.bytes || (await hashOf(path)) !== one.sha256)
      faults.push(`${one.file} was changed`);
    else {
      let rows = 0;
      for await (const batch of batchesOf(folder, one, CHECKED_AT_ONCE)) rows += batch.length;
      if (rows !== one.rows)
        faults.push(`${one.file} has ${String(rows)} rows, not ${String(one.rows)}`);
    }
  }
  return faults;
};
