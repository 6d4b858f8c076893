import pg from "pg";
import { vi, expect } from "vitest";
import { freePort } from "@/lib/platform/os/ports";
import { remember } from "@/lib/stack/postgres/cluster";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "@/lib/stack/postgres/embedded-postgres";
import { addFile, placeBackup } from "@/lib/stack/postgres/restore";

const NAME = "standby";
const WAIT = { timeout: 60_000, interval: 50 };

interface StandbyRequest {
  /** URL of the primary, for its superuser. */
  readonly primaryUrl: string;
  /** A backup of the primary. */
  readonly backup: string;
  /** The folder of the new server. */
  readonly dataDir: string;
  /** Whether the primary waits for the standby at each commit. Default: true. */
  readonly isSynchronous?: boolean;
}

const administer = async <Row extends object>(url: string, sql: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(sql)).rows;
  } finally {
    await client.end();
  }
};

/** A streaming replica, synchronous (`synchronous_standby_names`) by default. */
export const startStandby = async ({
  primaryUrl,
  backup,
  dataDir,
  isSynchronous = true,
}: StandbyRequest): Promise<EmbeddedPostgres> => {
  const { location, manifest } = await placeBackup(backup, dataDir);
  const { hostname, port, username, password } = new URL(primaryUrl);
  const from = `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`;
  await addFile(location, "standby.signal", "");
  await addFile(
    location,
    "postgresql.auto.conf",
    `primary_conninfo = '${from} application_name=${NAME}'\n`,
  );
  remember(dataDir, {
    dataDir: location.dataDir,
    port: await freePort(),
    password: manifest.password,
  });
  const standby = await startEmbeddedPostgres({ dataDir });
  if (isSynchronous) {
    await administer(primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = '${NAME}'`);
    await administer(primaryUrl, "SELECT pg_reload_conf()");
  }
  await vi.waitFor(async () => {
    const rows = await administer<{ state: string }>(
      primaryUrl,
      "SELECT sync_state AS state FROM pg_stat_replication",
    );
    expect(rows).toEqual([{ state: isSynchronous ? "sync" : "async" }]);
  }, WAIT);
  return standby;
};

/** Makes the standby receive changes without showing any of them, until `resumeReplay`. */
export const pauseReplay = async (standby: EmbeddedPostgres): Promise<void> => {
  await administer(standby.url("postgres"), "SELECT pg_wal_replay_pause()");
};

export const resumeReplay = async (standby: EmbeddedPostgres): Promise<void> => {
  await administer(standby.url("postgres"), "SELECT pg_wal_replay_resume()");
};

/** Makes the standby the primary. */
export const promote = async (standby: EmbeddedPostgres): Promise<void> => {
  const [row] = await administer<{ done: boolean }>(
    standby.url("postgres"),
    "SELECT pg_promote(true, 60) AS done",
  );
  if (row?.done !== true) throw new Error("The standby was not promoted.");
};
