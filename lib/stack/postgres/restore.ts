/**
 * Creates an embedded server from a backup. The service signs nothing on it before `npm run
 * reconcile` has passed.
 */
import { chown, copyFile, mkdir, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { DATA, faultsOf, inParts, isVacant, readManifest, type Manifest } from "./backup";
import { freePort } from "@/lib/platform/os/ports";
import { type ClusterLocation, findClusterLocation, remember } from "./cluster";
import { startEmbeddedPostgres } from "./embedded-postgres";

const FAULTS_SHOWN = 5;
const RECOVERY_MS_MAX = 600_000;
const POLL_MS = 100;

export interface RestoreRequest {
  readonly from: string;
  /** The folder of the new server's files; it must not exist, or be empty. */
  readonly dataDir: string;
  readonly database: string;
}

const refuseOccupied = async (wanted: string, { dataDir }: ClusterLocation): Promise<void> => {
  const occupied = existsSync(`${wanted}.json`)
    ? `${wanted}.json`
    : (await isVacant(dataDir))
      ? null
      : dataDir;
  if (occupied !== null)
    throw new Error(
      `${occupied} is there already. Restore to another folder with --to; nothing was changed.`,
    );
};

/**
 * Copies the files of a backup to the data folder of a server on `wanted`.
 * @throws Error when that folder is not empty, or the backup is damaged; nothing is changed then
 */
export const placeBackup = async (
  from: string,
  wanted: string,
): Promise<{ readonly location: ClusterLocation; readonly manifest: Manifest }> => {
  const manifest = await readManifest(from);
  const faults = await faultsOf(from, manifest);
  if (faults.length > 0)
    throw new Error(
      `The backup in ${from} is damaged (${String(faults.length)} faults): ${faults.slice(0, FAULTS_SHOWN).join("; ")}. Nothing was restored.`,
    );
  // The start of the server chooses its location in the same way, so that both use the same folder.
  await mkdir(dirname(wanted), { recursive: true });
  const location = findClusterLocation(wanted);
  await refuseOccupied(wanted, location);
  const own = async (path: string): Promise<void> => {
    if (location.account !== null)
      await chown(path, location.account.uid, location.account.gid);
  };
  for (const folder of manifest.folders) {
    await mkdir(join(location.dataDir, folder), { recursive: true, mode: 0o700 });
    await own(join(location.dataDir, folder));
  }
  await inParts(manifest.files, async ({ path }) => {
    await copyFile(join(from, DATA, path), join(location.dataDir, path));
    await own(join(location.dataDir, path));
  });
  return { location, manifest };
};

/** Adds a settings or signal file, owned by the server's user. */
export const addFile = async (
  { dataDir, account }: ClusterLocation,
  name: string,
  text: string,
): Promise<void> => {
  await writeFile(join(dataDir, name), text, { mode: 0o600, flag: "a" });
  if (account !== null) await chown(join(dataDir, name), account.uid, account.gid);
};

const recovered = async (client: pg.Client): Promise<void> => {
  for (let waitedMs = 0; waitedMs < RECOVERY_MS_MAX; waitedMs += POLL_MS) {
    const { rows } = await client.query<{ recovering: boolean }>(
      "SELECT pg_is_in_recovery() AS recovering",
    );
    if (rows[0]?.recovering === false) return;
    await sleep(POLL_MS);
  }
  throw new Error("The restored server has not ended its recovery within ten minutes.");
};

/**
 * Turns signing off. When the row is missing, no instance had checked the database before the
 * backup. The database is then treated as complete until the backup began.
 */
const TURN_OFF = `
  INSERT INTO signing_state (id, identity, seen_at, off_since, off_reason) VALUES (1, '', $2, now(), $1)
  ON CONFLICT (id) DO UPDATE SET off_since = coalesce(signing_state.off_since, now()), off_reason = $1`;

const markRestored = async (url: string, { startedAt }: Manifest): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await recovered(client);
    await client.query(TURN_OFF, [
      `the database was restored from the backup of ${startedAt}`,
      startedAt,
    ]);
  } finally {
    await client.end();
  }
};

/**
 * Restores a backup to another folder, lets the server replay its log on a new timeline, and turns
 * signing off.
 * @throws Error when the folder is not empty, or the backup is damaged
 */
export const restoreBackup = async ({
  from,
  dataDir,
  database,
}: RestoreRequest): Promise<Manifest> => {
  const { location, manifest } = await placeBackup(from, dataDir);
  // A recovery that looks for further log ends on a new timeline, which shows every instance that
  // this is a different server.
  await addFile(location, "recovery.signal", "");
  await addFile(location, "postgresql.auto.conf", "restore_command = 'false'\n");
  remember(dataDir, {
    dataDir: location.dataDir,
    port: await freePort(0),
    password: manifest.password,
  });
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    if (server.dataDir !== location.dataDir)
      throw new Error(`The server began in ${server.dataDir} instead.`);
    await markRestored(server.url(database), manifest);
  } finally {
    await server.stop();
  }
  return manifest;
};
