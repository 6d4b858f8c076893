import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  type ClusterLocation,
  type Durability,
  findClusterLocation,
  initialise,
  newPassword,
  readRemembered,
  remember,
  runAs,
  SUPERUSER,
} from "./cluster";
import {
  commandOf,
  endProcess,
  identityOf,
  isAlive,
  isSameProcess,
} from "@/lib/platform/os/process.mjs";
import { freePort } from "@/lib/platform/os/ports";

export interface EmbeddedPostgresOptions {
  /**
   * The folder of the cluster. Beside it are `<dataDir>.json` (password, port; mode 600) and
   * `<dataDir>.log`.
   */
  readonly dataDir: string;
  /** 0 or absent: the port of the last run if it is free, otherwise any free one. */
  readonly port?: number;
  /** `none` is faster but loses data in a crash; for tests. */
  readonly durability?: Durability;
  /** Connections that the server allows. Default 200. */
  readonly connectionsMax?: number;
  readonly log?: (line: string) => void;
  /** Aborts a start in progress; a launched server is ended. */
  readonly signal?: AbortSignal;
}

export interface EmbeddedPostgres {
  readonly port: number;
  readonly pid: number;
  /** The data folder. It may differ from the requested one: see `moved`. */
  readonly dataDir: string;
  /** True when a server that an earlier run left behind was taken over. */
  readonly adopted: boolean;
  /** Why the data is not in the requested folder, or null. */
  readonly moved: string | null;
  /** URL for the owner of everything, a superuser. */
  url(database: string): string;
  /** URL for the role of the service, which owns nothing; `ensureAppRole` creates it. */
  appUrl(database: string): string;
  ensureAppRole(): Promise<void>;
  ensureDatabase(name: string): Promise<void>;
  isRunning(): boolean;
  /**
   * Stops the server.
   * @returns false when the server did not answer and was killed, so that its next start replays
   * the log
   */
  stop(): Promise<boolean>;
}

// Time limit of a start. It is long enough for the replay of the log after a crash, whose length
// max_wal_size bounds. A replay that is interrupted starts again from the beginning.
const START_TIMEOUT_MS = 300_000;
const PROBE_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 30_000; // A machine that is busy with a build answers late.
const POLL_MS = 30;
const START_ATTEMPTS_MAX = 30;
const BUFFERS_MIN_MB = 128;
const BUFFERS_MAX_MB = 1024;
const RETRY_MS = 500;
const LOG_TAIL_LINES = 12;
const STOP_STEPS = [
  { signal: "SIGINT", waitMs: 20_000 }, // "fast": rolls back open transactions, writes a checkpoint
  { signal: "SIGQUIT", waitMs: 5_000 }, // "immediate": the next start replays the log
  { signal: "SIGKILL", waitMs: 5_000 },
] as const;
/**
 * Stop steps for a server that does not answer. They do not wait for a checkpoint, because such a
 * server would not complete it.
 */
const STOP_STEPS_HUNG = [
  { signal: "SIGQUIT", waitMs: 1_000 },
  { signal: "SIGKILL", waitMs: 5_000 },
] as const;

export const APP_ROLE = "causeway_app";

const urlOf = (port: number, password: string, database: string, role = SUPERUSER): string =>
  `postgresql://${role}:${password}@127.0.0.1:${String(port)}/${encodeURIComponent(database)}`;

/**
 * The password of the service's role, derived from the superuser's, so that nothing more has to be
 * stored. The derivation cannot be reversed.
 */
const appPasswordOf = (password: string): string =>
  createHmac("sha256", password).update(APP_ROLE).digest("base64url");

const withClient = async <T>(
  url: string,
  timeoutMs: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs });
  // The server may end the connection; the pending query reports it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

/**
 * The data directory of the server on this port. Null when none answers or it does not accept the
 * password.
 */
const dataDirectoryAt = async (port: number, password: string): Promise<string | null> => {
  try {
    return await withClient(
      urlOf(port, password, "postgres"),
      PROBE_TIMEOUT_MS,
      async (client) => {
        const result = await client.query<{ data_directory: string }>("SHOW data_directory");
        return result.rows[0]?.data_directory ?? null;
      },
    );
  } catch {
    return null;
  }
};

const logTail = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-LOG_TAIL_LINES).join("\n");
  } catch {
    return "(no log)";
  }
};

interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/**
 * Whether the process is the server of this folder. Only this module starts servers on it, always
 * with the path as an argument.
 */
const isServerOf = (dataDir: string, pid: number): boolean => {
  const command = commandOf(pid);
  return command.includes("postgres") && command.includes(`-D ${dataDir}`);
};

/** Reads postmaster.pid. A file that names a process of a different program is removed. */
const readPostmaster = (dataDir: string): Postmaster | null => {
  const file = join(dataDir, "postmaster.pid");
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  if (Number.isInteger(pid) && pid > 0 && isAlive(pid) && isServerOf(dataDir, pid))
    return { pid, port: Number(lines[3] ?? 0) };
  rmSync(file, { force: true });
  return null;
};

/**
 * Takes over the server that a killed run left behind, or waits for its end. Returns null when no
 * server runs on the folder.
 */
const adopt = async (
  dataDir: string,
  password: string,
  signal?: AbortSignal,
): Promise<Postmaster | null> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (let found = readPostmaster(dataDir); found; found = readPostmaster(dataDir)) {
    if (found.port > 0 && (await dataDirectoryAt(found.port, password)) === dataDir)
      return found;
    signal?.throwIfAborted();
    if (Date.now() > deadline) {
      if (await endProcess(found.pid, STOP_STEPS)) return null;
      throw new Error(
        `A PostgreSQL (pid ${String(found.pid)}) holds ${dataDir} and neither answers nor ends.`,
      );
    }
    await sleep(POLL_MS);
  }
  return null;
};

/**
 * Size of the shared buffers in MB: a quarter of the memory, as PostgreSQL's manual recommends.
 * The memory is allocated only when it is used.
 */
const buffersMb = (): number => {
  // The memory limit of the container. Outside of a container it is 0, or more than the machine
  // has.
  const limit = process.constrainedMemory() || Infinity;
  const quarter = Math.floor(Math.min(totalmem(), limit) / 4 / 2 ** 20);
  return Math.min(BUFFERS_MAX_MB, Math.max(BUFFERS_MIN_MB, quarter));
};

const CONNECTIONS_MAX = 200;

const settings = (durability: Durability, connectionsMax: number): string[] =>
  [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    `max_connections=${String(connectionsMax)}`,
    `shared_buffers=${String(durability === "none" ? BUFFERS_MIN_MB : buffersMb())}MB`,
    // Limits the replay after a crash. With a smaller value the server would write a checkpoint
    // every few seconds under load, and full page images to the log after each checkpoint.
    "max_wal_size=2GB",
    "timezone=UTC",
    ...(durability === "none"
      ? ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]
      : []),
  ].flatMap((setting) => ["-c", setting]);

const RETRYABLE =
  /pre-existing shared memory block|still in use|Address already in use|could not bind|lock file/;

/**
 * Starts the server once and waits until it answers.
 * @returns its pid, or the end of its log when it exited
 */
const launch = async (
  location: ClusterLocation,
  port: number,
  password: string,
  options: {
    durability: Durability;
    connectionsMax: number;
    logFile: string;
    signal: AbortSignal | undefined;
  },
): Promise<{ pid: number } | { failure: string }> => {
  const logDescriptor = openSync(options.logFile, "w", 0o600);
  // A separate process group: Ctrl-C in the terminal must reach this process first, so that the
  // parts end in order.
  const child = spawn(
    join(location.native, "bin", "postgres"),
    [
      "-D",
      location.dataDir,
      "-p",
      String(port),
      ...settings(options.durability, options.connectionsMax),
    ],
    { ...runAs(location), detached: true, stdio: ["ignore", logDescriptor, logDescriptor] },
  );
  closeSync(logDescriptor);
  let failure: string | null = null;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", () => (failure ??= logTail(options.logFile)));
  child.unref();
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.pid !== undefined && (await dataDirectoryAt(port, password)) === location.dataDir)
      return { pid: child.pid };
    // `failure` is set by event handlers, which the compiler does not track.
    const ended = failure as string | null;
    if (ended !== null) return { failure: ended };
    if (options.signal?.aborted) {
      if (child.pid !== undefined) await endProcess(child.pid, STOP_STEPS_HUNG);
      throw new Error("The start was given up.");
    }
    if (Date.now() > deadline) {
      if (child.pid !== undefined) await endProcess(child.pid, STOP_STEPS);
      return {
        failure: `no answer after ${String(START_TIMEOUT_MS / 1000)} s\n${logTail(options.logFile)}`,
      };
    }
    await sleep(POLL_MS);
  }
};

const startFresh = async (
  location: ClusterLocation,
  password: string,
  options: {
    port: number;
    fixedPort: boolean;
    durability: Durability;
    connectionsMax: number;
    logFile: string;
    signal: AbortSignal | undefined;
  },
): Promise<Postmaster> => {
  let failure = "";
  for (let attempt = 0; attempt < START_ATTEMPTS_MAX; attempt += 1) {
    options.signal?.throwIfAborted();
    const port = options.fixedPort ? options.port : await freePort(options.port);
    const result = await launch(location, port, password, options);
    if ("pid" in result) return { pid: result.pid, port };
    failure = result.failure;
    // Starts again after such a failure, because the backends of a killed server need some time to
    // end.
    if (!RETRYABLE.test(failure)) break;
    await sleep(RETRY_MS);
  }
  throw new Error(
    `PostgreSQL did not start. The end of its log (${options.logFile}):\n${failure}`,
  );
};

/**
 * Starts PostgreSQL 18 on the loopback interface, or takes over the server that an earlier, killed
 * run left on the same folder.
 * @throws Error whose message ends with the end of the server's log
 */
export const startEmbeddedPostgres = async (
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> => {
  const log = options.log ?? (() => undefined);
  const durability = options.durability ?? "full";
  mkdirSync(dirname(options.dataDir), { recursive: true });
  const location = findClusterLocation(options.dataDir);
  if (location.moved) log(location.moved);
  const remembered = readRemembered(options.dataDir);
  const password =
    remembered?.dataDir === location.dataDir ? remembered.password : newPassword(location);
  let running = remembered ? await adopt(location.dataDir, password, options.signal) : null;
  const adopted = running !== null;
  if (!running) {
    const port = options.port ?? 0;
    remember(options.dataDir, {
      dataDir: location.dataDir,
      port: port || (remembered?.port ?? 1),
      password,
    });
    if (!existsSync(join(location.dataDir, "PG_VERSION")))
      initialise(location, password, durability);
    running = await startFresh(location, password, {
      port: port || (remembered?.port ?? 0),
      fixedPort: port !== 0,
      durability,
      connectionsMax: options.connectionsMax ?? CONNECTIONS_MAX,
      logFile: `${options.dataDir}.log`,
      signal: options.signal,
    });
  }
  const { pid, port } = running;
  const identity = identityOf(pid);
  remember(options.dataDir, { dataDir: location.dataDir, port, password });
  const url = (database: string): string => urlOf(port, password, database);
  return {
    port,
    pid,
    dataDir: location.dataDir,
    adopted,
    moved: location.moved,
    url,
    appUrl: (database) => urlOf(port, appPasswordOf(password), database, APP_ROLE),
    ensureAppRole: () => ensureAppRole(url("postgres"), appPasswordOf(password)),
    ensureDatabase: (name) => ensureDatabase(url("postgres"), name),
    isRunning: () => isSameProcess(identity),
    stop: async () => {
      if (!isSameProcess(identity)) return true;
      const answers = (await dataDirectoryAt(port, password)) !== null;
      if (await endProcess(pid, answers ? STOP_STEPS : STOP_STEPS_HUNG)) return answers;
      throw new Error(`PostgreSQL (pid ${String(pid)}) does not end.`);
    },
  };
};

const DUPLICATE_DATABASE = "42P04";

const ensureDatabase = (url: string, name: string): Promise<void> =>
  withClient(url, CONNECT_TIMEOUT_MS, async (client) => {
    const found = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (found.rowCount) return;
    try {
      await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== DUPLICATE_DATABASE)
        throw error;
    }
  });

const ensureAppRole = (url: string, password: string): Promise<void> =>
  withClient(url, CONNECT_TIMEOUT_MS, async (client) => {
    const found = await client.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [APP_ROLE]);
    if (found.rowCount) return;
    await client.query(`CREATE ROLE ${APP_ROLE} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
  });
