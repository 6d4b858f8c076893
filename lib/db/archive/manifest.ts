/** The file that says what an archive holds. It is written last, so an archive with a manifest is complete. */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { hashOf } from "@/lib/os/hashed-file";
import { csvRows, type TextRow } from "./csv";

export const MANIFEST = "manifest.json";
const VERSION = 1;

const archivedFile = z.object({
  table: z.string(),
  file: z.string().regex(/^[a-z_]+\.csv\.gz$/),
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.number().int(),
  bytes: z.number().int(),
  sha256: z.string(),
  /** The keys of its first and last row; null where it has none. */
  first: z.array(z.string()).nullable(),
  last: z.array(z.string()).nullable(),
});

const manifestForm = z.object({
  version: z.literal(VERSION),
  month: z.string(),
  writtenAt: z.string(),
  /** The newest migration of the database that it was written from. */
  schema: z.string(),
  files: z.array(archivedFile),
  /** The numbers of each project's events in it. */
  projects: z.array(z.object({ projectId: z.string(), first: z.number().int(), last: z.number().int() })),
});

export type ArchivedFile = z.output<typeof archivedFile>;
export type ArchiveManifest = z.output<typeof manifestForm>;

export const newManifest = (own: Omit<ArchiveManifest, "version">): string =>
  `${JSON.stringify({ version: VERSION, ...own }, null, 1)}\n`;

/** The manifest of a folder; null: there is none, so the folder holds no complete archive. */
export const readManifest = async (
  folder: string,
): Promise<{ readonly manifest: ArchiveManifest; readonly sha256: string } | null> => {
  const file = join(folder, MANIFEST);
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : { manifest: manifestForm.parse(JSON.parse(text)), sha256: await hashOf(file) };
};

/** Reads the rows of one archived table's file, in batches of `size` rows. */
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

/** A sentence for each file that is missing, changed, or has other rows than the manifest says. */
export const faultsOf = async (folder: string, { files }: ArchiveManifest): Promise<readonly string[]> => {
  const faults: string[] = [];
  for (const one of files) {
    const path = join(folder, one.file);
    const found = await stat(path).catch(() => null);
    if (found === null) faults.push(`${one.file} is missing`);
    else if (found.size !== one.bytes || (await hashOf(path)) !== one.sha256) faults.push(`${one.file} was changed`);
    else {
      let rows = 0;
      for await (const batch of batchesOf(folder, one, CHECKED_AT_ONCE)) rows += batch.length;
      if (rows !== one.rows) faults.push(`${one.file} has ${String(rows)} rows, not ${String(one.rows)}`);
    }
  }
  return faults;
};
