/**
 * Makes a consistent copy of the embedded server's files while it runs (PostgreSQL's low-level
 * backup), with a manifest of hashes.
 */
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import pg from "pg";
import { hashOf, writeHashed, writeWhole } from "@/lib/platform/os/hashed-file";

export interface Manifest {
  readonly version: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly server: string;
  /** The superuser's password, for the local server that is restored from the backup. */
  readonly password: string;
  /** Folders below `data`, including empty ones. */
  readonly folders: readonly string[];
  readonly files: readonly {
    readonly path: string;
    readonly bytes: number;
    readonly sha256: string;
  }[];
}

const VERSION = 1;
export const MANIFEST = "manifest.json";
export const DATA = "data";

/** Folders whose content PostgreSQL recreates. */
const EMPTIED = new Set([
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|pg_internal\.init|pgsql_tmp.*|backup_label.*|tablespace_map.*)$/;
const WAL = "pg_wal";
const WAL_FILE = /^[0-9A-F]{24}$/;
const HISTORY = /^[0-9A-F]{8}\.history$/;
const SLOT = "causeway_backup";

type FileEntry = Manifest["files"][number];

const FILES_AT_ONCE = 32;

/**
 * Runs `work` for several items at a time, because a server has thousands of small files and each
 * waits for the disk.
 */
export const inParts = async <T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  for (let start = 0; start < items.length; start += FILES_AT_ONCE)
    await Promise.all(items.slice(start, start + FILES_AT_ONCE).map(work));
};

const isGone = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

interface Copying {
  readonly from: string;
  readonly to: string;
  readonly folders: string[];
  readonly files: FileEntry[];
}

/**
 * Copies one file, and adds it to the list of files. A file that is deleted during the backup is
 * left out, because the write-ahead log contains its deletion too.
 */
const copyFile = async ({ from, to, files }: Copying, path: string): Promise<void> => {
  try {
    files.push({
      path,
      ...(await writeHashed(createReadStream(join(from, path)), join(to, path))),
    });
  } catch (error) {
    if (!isGone(error) || existsSync(join(from, path))) throw error;
  }
};

const copyFolder = async (copying: Copying, folder: string): Promise<void> => {
  await mkdir(join(copying.to, folder), { recursive: true, mode: 0o700 });
  if (folder !== "") copying.folders.push(folder);
  if (EMPTIED.has(folder)) return;
  const entries = await readdir(join(copying.from, folder), { withFileTypes: true }).catch(
    (error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    },
  );
  const paths: string[] = [];
  for (const entry of entries) {
    if (LEFT_OUT.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await copyFolder(copying, path);
    else if (entry.isFile()) paths.push(path);
  }
  await inParts(paths, (path) => copyFile(copying, path));
};

/**
 * Copies the write-ahead log that was written during the backup. Without it the files of the backup
 * are unusable.
 */
const copyLog = async (copying: Copying, first: string, last: string): Promise<void> => {
  const names = (await readdir(join(copying.from, WAL))).filter(
    (name) => HISTORY.test(name) || (WAL_FILE.test(name) && name >= first && name <= last),
  );
  if (!names.includes(first) || !names.includes(last))
    throw new Error("The write-ahead log of the backup is not complete.");
  for (const name of names) await copyFile(copying, join(WAL, name));
};

const one = async <Row extends object>(client: pg.Client, text: string): Promise<Row> => {
  const { rows } = await client.query<Row & pg.QueryResultRow>(text);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL gave no answer.");
  return row;
};

const store = async (copying: Copying, path: string, text: string): Promise<void> => {
  await writeFile(join(copying.to, path), text, { mode: 0o600, flush: true });
  copying.files.push({
    path,
    bytes: Buffer.byteLength(text),
    sha256: await hashOf(join(copying.to, path)),
  });
};

const copyServer = async (client: pg.Client, copying: Copying): Promise<void> => {
  // Makes the server retain the log that the backup needs. The replication slot ends with this
  // connection.
  await client.query(`SELECT pg_create_physical_replication_slot('${SLOT}', true, true)`);
  const start = await one<{ file: string }>(
    client,
    "SELECT pg_walfile_name(pg_backup_start('causeway', true)) AS file",
  );
  await copyFolder(copying, "");
  const stop = await one<{ label: string; spaces: string; file: string }>(
    client,
    "SELECT labelfile AS label, spcmapfile AS spaces, pg_walfile_name(lsn) AS file FROM pg_backup_stop(false)",
  );
  if (stop.spaces.trim() !== "")
    throw new Error("The server has tablespaces, which this backup does not copy.");
  await store(copying, "backup_label", stop.label);
  await copyLog(copying, start.file, stop.file);
};

export interface BackupRequest {
  /** URL for the superuser. */
  readonly url: string;
  readonly dataDir: string;
  /** The folder for the backup, which must not exist or be empty. */
  readonly target: string;
}

export const isVacant = async (folder: string): Promise<boolean> =>
  (
    await readdir(folder).catch((error: unknown) =>
      isGone(error) ? [] : Promise.reject(error as Error),
    )
  ).length === 0;

/**
 * Copies the server's files while it runs. The manifest is written last, so a backup with a
 * manifest is complete.
 * @throws Error when the target is not empty
 */
export const backUp = async ({ url, dataDir, target }: BackupRequest): Promise<Manifest> => {
  if (!(await isVacant(target))) throw new Error(`${target} is not empty. Name a new folder.`);
  const startedAt = new Date().toISOString();
  await mkdir(target, { recursive: true, mode: 0o700 });
  const copying: Copying = { from: dataDir, to: join(target, DATA), folders: [], files: [] };
  const client = new pg.Client({ connectionString: url, application_name: "causeway backup" });
  client.on("error", () => undefined); // The pending statement reports the error.
  await client.connect();
  try {
    const { server } = await one<{ server: string }>(
      client,
      "SELECT current_setting('server_version') AS server",
    );
    await copyServer(client, copying);
    const { password } = new URL(url);
    const endedAt = new Date().toISOString();
    const { folders, files } = copying;
    const own = {
      version: VERSION,
      startedAt,
      endedAt,
      server,
      password: decodeURIComponent(password),
      folders,
      files,
    } as const;
    await writeWhole(join(target, MANIFEST), `${JSON.stringify(own, null, 1)}\n`);
    return own;
  } finally {
    await client.end();
  }
};

const RECORDED = `
  INSERT INTO backup_record (kind, ended_at) VALUES ('backup', $1)
  ON CONFLICT (kind) DO UPDATE SET ended_at = greatest(backup_record.ended_at, EXCLUDED.ended_at)`;

/**
 * Records when the newest complete backup ended. Its age is a metric.
 * @param url database of the service, for the owner of the tables
 */
export const recordBackup = async (
  url: string,
  { endedAt }: Pick<Manifest, "endedAt">,
): Promise<void> => {
  const client = new pg.Client({ connectionString: url, application_name: "causeway backup" });
  client.on("error", () => undefined); // The pending statement reports the error.
  await client.connect();
  try {
    await client.query(RECORDED, [endedAt]);
  } finally {
    await client.end();
  }
};

/** Reads the manifest of a backup. @throws Error when the folder holds no complete backup */
export const readManifest = async (folder: string): Promise<Manifest> => {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => null);
  if (text === null)
    throw new Error(`${folder} holds no complete backup: ${MANIFEST} is missing.`);
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.version !== VERSION)
    throw new Error(`The backup in ${folder} is of another version.`);
  return manifest;
};

/** The files that are missing, changed, or not in the manifest. */
export const faultsOf = async (
  folder: string,
  { files }: Manifest,
): Promise<readonly string[]> => {
  const data = join(folder, DATA);
  const faults: string[] = [];
  await inParts(files, async ({ path, bytes, sha256 }) => {
    const found = await stat(join(data, path)).catch(() => null);
    if (found === null) faults.push(`${path} is missing`);
    else if (found.size !== bytes || (await hashOf(join(data, path))) !== sha256)
      faults.push(`${path} was changed`);
  });
  const named = new Set(files.map(({ path }) => path));
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    const path = relative(data, join(entry.parentPath, entry.name));
    if (entry.isFile() && !named.has(path)) faults.push(`${path} is no part of it`);
  }
  return faults;
};
