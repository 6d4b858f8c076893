import { statfs } from "node:fs/promises";
import type pg from "pg";
import type { ReadinessProbe } from "@/lib/core/readiness";
import { BEAT_MS } from "./instances";

/** The message names the fault and the operator's next action. */
export class NotReadyError extends Error {}

export interface DatabaseProbesOptions {
  /** A separate pool, which answers when all others are busy. */
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly overdueJobs: () => Promise<number>;
  readonly folders: readonly string[];
  /** A transaction that blocks others for longer than this is reported. Default 15 s. */
  readonly lockMs?: number;
  /** Minimum of free space. The default is 5 % of the disk, at least 256 MB and at most 2 GB. */
  readonly diskFreeMinBytes?: number;
}

const LOCK_MS = 15_000;
const CLOCK_AHEAD_MAX_MS = 5_000;
/** Time without a beat after which an instance does not count as alive. */
const SILENT_MAX_MS = 5 * BEAT_MS;
const MB = 1024 * 1024;
const [DISK_SHARE, DISK_MIN, DISK_MAX] = [0.05, 256 * MB, 2048 * MB];
const LOCAL_HOSTS = new Set(["localhost", "127.0.0.1", "[::1]", ""]);

const seconds = (ms: number): string => `${String(Math.round(ms / 1000))} s`;

const databaseProbe = ({ pool }: DatabaseProbesOptions): ReadinessProbe => ({
  name: "database",
  check: async () => {
    const { rows } = await pool.query<{ version: string; idle: string; recovery: boolean }>(
      `SELECT current_setting('server_version') AS version,
         current_setting('idle_in_transaction_session_timeout') AS idle, pg_is_in_recovery() AS recovery`,
    );
    const [row] = rows;
    if (row?.recovery === true)
      throw new NotReadyError(
        "PostgreSQL only reads: it is a standby. Let DATABASE_URL name the primary.",
      );
    if (row?.idle === "0")
      throw new NotReadyError(
        "Connections have no limits, so a frozen instance would keep its locks. A pooler drops them; set them for the role (README).",
      );
    return `PostgreSQL ${row?.version ?? ""}`;
  },
});

// Finds a transaction that blocks others or is idle. A transaction that itself waits for a lock is
// left out, because ending it frees nothing. PostgreSQL hides the start times of other roles'
// transactions, so the waiting time of the blocked ones is used too.
const BLOCKERS = `
  SELECT b.pid, coalesce(nullif(b.application_name, ''), b.usename) AS who, coalesce(b.state, 'unknown') AS state,
    (extract(epoch FROM clock_timestamp() - coalesce(b.xact_start, min(w.query_start))) * 1000)::float8 AS held_ms,
    count(w.pid)::int AS waiting
  FROM pg_stat_activity b
  LEFT JOIN LATERAL (
    SELECT w.pid, w.query_start FROM pg_stat_activity w
    WHERE w.wait_event_type = 'Lock' AND b.pid = ANY (pg_blocking_pids(w.pid))) w ON true
  WHERE b.datname = current_database() AND b.pid <> pg_backend_pid() AND b.backend_type = 'client backend'
    AND b.wait_event_type IS DISTINCT FROM 'Lock'
    AND (w.pid IS NOT NULL OR (b.state LIKE 'idle in transaction%' AND b.state_change < clock_timestamp() - $1::float8 * interval '1 ms'))
  GROUP BY b.pid, b.application_name, b.usename, b.state, b.xact_start
  ORDER BY held_ms DESC NULLS LAST LIMIT 1`;

const locksProbe = ({ pool, lockMs = LOCK_MS }: DatabaseProbesOptions): ReadinessProbe => ({
  name: "locks",
  check: async () => {
    const { rows } = await pool.query<{
      pid: number;
      who: string;
      state: string;
      held_ms: number;
      waiting: number;
    }>(BLOCKERS, [lockMs]);
    const [row] = rows;
    if (row === undefined || row.held_ms < lockMs) return "no lock is held for long";
    const pid = String(row.pid);
    throw new NotReadyError(
      `PostgreSQL process ${pid} (${row.who}, ${row.state}) has held locks for ${seconds(row.held_ms)}, and ${String(row.waiting)} wait for it. ` +
        `End it: SELECT pg_terminate_backend(${pid})`,
    );
  },
});

const ALIVE = `
  SELECT id, works, clock_ahead_ms AS ahead FROM instance
  WHERE beat_at > clock_timestamp() - $1::float8 * interval '1 ms' ORDER BY abs(clock_ahead_ms) DESC`;

const workerProbe = ({ pool, overdueJobs }: DatabaseProbesOptions): ReadinessProbe => ({
  name: "worker",
  check: async () => {
    const { rows } = await pool.query<{ works: boolean }>(ALIVE, [SILENT_MAX_MS]);
    const workers = rows.filter(({ works }) => works).length;
    if (workers === 0)
      throw new NotReadyError(
        "No worker is alive, so nothing moves. Start an instance with ROLE=worker or ROLE=all.",
      );
    const overdue = await overdueJobs();
    if (overdue > 0)
      throw new NotReadyError(
        `${String(overdue)} jobs wait for a worker. Look at the workers' logs, or start another one.`,
      );
    return `${String(workers)} alive, no job waits`;
  },
});

/**
 * Checks the clock of this machine. The probe is optional, because every instance uses the
 * database's time and works correctly even if its own clock is wrong.
 */
const clockProbe = ({ pool }: DatabaseProbesOptions): ReadinessProbe => ({
  name: "clock",
  optional: true,
  check: async () => {
    const { rows } = await pool.query<{ id: string; ahead: number }>(ALIVE, [SILENT_MAX_MS]);
    const [worst] = rows;
    if (worst === undefined || Math.abs(worst.ahead) <= CLOCK_AHEAD_MAX_MS)
      return "as the database's";
    const direction = worst.ahead > 0 ? "ahead of" : "behind";
    throw new NotReadyError(
      `The clock of ${worst.id} is ${seconds(Math.abs(worst.ahead))} ${direction} the database's, which the service goes by. ` +
        "Let NTP set the clocks of both machines.",
    );
  },
});

/**
 * The database's folder, if it is on this machine and the role may read the setting; otherwise
 * null.
 */
const databaseFolder = async ({
  pool,
  databaseUrl,
}: DatabaseProbesOptions): Promise<string | null> => {
  if (!LOCAL_HOSTS.has(new URL(databaseUrl).hostname)) return null;
  const { rows } = await pool.query<{ folder: string | null }>(
    "SELECT setting AS folder FROM pg_settings WHERE name = 'data_directory'",
  );
  return rows[0]?.folder ?? null;
};

/**
 * The free space and the size of the folder's disk, in bytes. Null when the folder cannot be read,
 * because the database may run as another user, or in a container.
 */
const spaceIn = async (folder: string): Promise<{ free: number; size: number } | null> => {
  const found = await statfs(folder).catch(() => null);
  return found === null
    ? null
    : { free: found.bavail * found.bsize, size: found.blocks * found.bsize };
};

const diskProbe = (options: DatabaseProbesOptions): ReadinessProbe => ({
  name: "disk",
  check: async () => {
    const own = await databaseFolder(options).catch(() => null);
    const folders = own === null ? options.folders : [...options.folders, own];
    const spaces = await Promise.all(
      folders.map(async (folder) => ({ folder, space: await spaceIn(folder) })),
    );
    const known = spaces.flatMap(({ folder, space }) =>
      space === null ? [] : [{ folder, ...space }],
    );
    for (const { folder, free, size } of known) {
      const least =
        options.diskFreeMinBytes ?? Math.min(DISK_MAX, Math.max(DISK_MIN, size * DISK_SHARE));
      if (free < least)
        throw new NotReadyError(
          `The disk of ${folder} is nearly full: ${String(Math.floor(free / MB))} MB are free. ` +
            "Delete what is not needed, or make it larger; a full disk stops the database.",
        );
    }
    const free = Math.min(...known.map((space) => space.free));
    return known.length === 0 ? "not known" : `${String(Math.floor(free / MB / 1024))} GB free`;
  },
});

export const databaseProbes = (options: DatabaseProbesOptions): readonly ReadinessProbe[] =>
  [databaseProbe, locksProbe, workerProbe, clockProbe, diskProbe].map((make) => make(options));
