/**
 * Writes the events and deliveries of a closed month to files, removes them from the database, and
 * restores them.
 */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type pg from "pg";
import { syncFolder } from "@/lib/platform/os/hashed-file";
import { type ArchivedFile, type ArchiveManifest, faultsOf, readManifest } from "./manifest";
import { removeRows } from "./remove";
import { changedRows, restoreRows } from "./restore";
import {
  ARCHIVED_TABLES,
  type ArchivedTable,
  type Month,
  parseMonth,
  withSession,
} from "./tables";
import {
  beginRemoval,
  endRestore,
  isClosed,
  readArchive,
  setState,
  storeWritten,
  type StoredArchive,
} from "./state";
import { writeMonth } from "./write";

/**
 * Days after the end of a month until it counts as closed, for clock differences and for operations
 * that end late.
 */
const GRACE_DAYS = 7;
const FAULTS_SHOWN = 5;

export interface ArchiveRequest {
  readonly url: string;
  /** The month in the form `2026-01`. */
  readonly month: string;
  readonly directory: string;
}

/** Row counts of one table: `rows` in the file, and `moved` by this call (removed or restored). */
export interface ArchivedRows {
  readonly table: string;
  readonly rows: number;
  readonly moved: number;
}

interface Archive {
  readonly client: pg.Client;
  readonly month: Month;
  readonly folder: string;
}

const partial = (folder: string): string => `${folder}.partial`;

const fileOf = ({ files }: ArchiveManifest, { table }: ArchivedTable): ArchivedFile => {
  const file = files.find((one) => one.table === table);
  if (file === undefined) throw new Error(`The archive has no rows of ${table}.`);
  return file;
};

/**
 * Verifies the files and returns their manifest.
 * @throws Error when files are missing or were changed
 */
const verified = async (
  { month, folder }: Archive,
  stored: StoredArchive,
): Promise<ArchiveManifest> => {
  const found = await readManifest(folder);
  if (found === null)
    throw new Error(
      `${folder} holds no archive. Name the folder with --directory; nothing was changed.`,
    );
  if (found.sha256 !== stored.manifestSha256 || found.manifest.month !== month.name)
    throw new Error(
      `${folder} is not the archive of ${month.name} that this database knows: its manifest differs. Nothing was changed.`,
    );
  const faults = await faultsOf(folder, found.manifest);
  if (faults.length > 0)
    throw new Error(
      `The archive in ${folder} is damaged: ${faults.slice(0, FAULTS_SHOWN).join("; ")}. Nothing was changed.`,
    );
  return found.manifest;
};

/**
 * Renames the folder with the complete files to its final name, unless it has that name already.
 * The database knows the manifest before the renaming, so when a command is killed between the two,
 * the next command renames the folder.
 */
const place = async ({ folder }: Archive): Promise<void> => {
  if (existsSync(folder) || !existsSync(partial(folder))) return;
  await syncFolder(partial(folder));
  await rename(partial(folder), folder);
  await syncFolder(dirname(folder));
};

const write = async (archive: Archive): Promise<StoredArchive> => {
  const { client, month, folder } = archive;
  const stored = await readArchive(client, month);
  if (stored !== null && (stored.state !== "restored" || existsSync(folder))) return stored;
  if (existsSync(folder))
    throw new Error(
      `${folder} is there already, and this database does not know it. Name another folder with --directory.`,
    );
  await writeMonth(client, month, partial(folder));
  const written = await readManifest(partial(folder));
  if (written === null) throw new Error(`${partial(folder)} has no manifest.`);
  await storeWritten(client, month, written.sha256);
  return { state: "written", manifestSha256: written.sha256 };
};

const remove = async (
  archive: Archive,
  manifest: ArchiveManifest,
): Promise<readonly ArchivedRows[]> => {
  const { client, month, folder } = archive;
  await beginRemoval(client, month, manifest);
  const moved: ArchivedRows[] = [];
  for (const table of ARCHIVED_TABLES) {
    const file = fileOf(manifest, table);
    moved.push({
      table: table.table,
      rows: file.rows,
      moved: await removeRows(client, { table, file, folder }),
    });
  }
  await setState(client, month, "removed");
  return moved;
};

const opened = async <T>(
  { url, month: name, directory }: ArchiveRequest,
  work: (archive: Archive) => Promise<T>,
): Promise<T> => {
  const month = parseMonth(name);
  return withSession(url, (client) =>
    work({ client, month, folder: join(directory, month.name) }),
  );
};

/**
 * Writes a month to files, verifies them, and removes the rows that are no longer needed from the
 * database. A call that was killed at any point can be repeated. For a month that is archived
 * already, the call verifies the files again.
 * @throws Error when the month is not closed, is being restored, or its files are damaged; nothing
 * is removed then
 */
export const archiveMonth = (request: ArchiveRequest): Promise<readonly ArchivedRows[]> =>
  opened(request, async (archive) => {
    const { client, month } = archive;
    if (!(await isClosed(client, month, GRACE_DAYS)))
      throw new Error(
        `${month.name} can be archived ${String(GRACE_DAYS)} days after its end.`,
      );
    const stored = await write(archive);
    if (stored.state === "restoring")
      throw new Error(`${month.name} is being brought back. Repeat that command first.`);
    await place(archive);
    return remove(archive, await verified(archive, stored));
  });

/**
 * Restores a month from its files. The month stays in the database until it is archived again,
 * whatever the retention is.
 * @throws Error when the files are damaged, or are not the ones that were written; nothing is
 * changed then
 */
export const restoreMonth = (request: ArchiveRequest): Promise<readonly ArchivedRows[]> =>
  opened(request, async (archive) => {
    const { client, month, folder } = archive;
    const stored = await readArchive(client, month);
    if (stored === null) throw new Error(`This database has no archive of ${month.name}.`);
    const manifest = await verified(archive, stored);
    await setState(client, month, "restoring");
    const moved: ArchivedRows[] = [];
    for (const table of [...ARCHIVED_TABLES].reverse()) {
      const file = fileOf(manifest, table);
      const isKept = table.mayLeave === null;
      const count = isKept ? 0 : await restoreRows(client, { table, file, folder });
      moved.push({ table: table.table, rows: file.rows, moved: count });
    }
    await endRestore(client, month);
    return moved;
  });

/**
 * Verifies the files of a month, and that the ledger still has each row as in the files.
 * @returns a sentence for each table that differs
 */
export const checkMonth = (request: ArchiveRequest): Promise<readonly string[]> =>
  opened(request, async (archive) => {
    const { client, month, folder } = archive;
    const stored = await readArchive(client, month);
    if (stored === null) throw new Error(`This database has no archive of ${month.name}.`);
    const manifest = await verified(archive, stored);
    const faults: string[] = [];
    for (const table of ARCHIVED_TABLES.filter(({ mayLeave }) => mayLeave === null)) {
      const changed = await changedRows(client, {
        table,
        file: fileOf(manifest, table),
        folder,
      });
      if (changed > 0)
        faults.push(
          `${String(changed)} rows of ${table.table} are not in the database as they were.`,
        );
    }
    return faults;
  });
