import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { z } from "zod";
import { ConfigError } from "@/lib/platform/config/database";
import { loadConfig } from "@/lib/platform/config/env";
import { developmentHostProblem } from "@/lib/platform/config/production";
import { redactSecrets } from "@/lib/core/redaction";
import { EarlierVersionError } from "@/lib/platform/db/migrate";
import { onParentEnd } from "@/lib/platform/os/process.mjs";
import { requireFreePort, startAppPart } from "./app-part";
import { renderBoard, renderPhase, type BoardPart } from "./board";
import { startChainsPart, type ChainsPart } from "./chains-part";
import { requireWritable } from "./data-folder";
import { acquireLock, AlreadyRunningError } from "./lock";
import { PartError } from "./part-error";
import { startPostgresPart } from "./postgres-part";
import { developmentSecrets, type Secrets } from "./secrets";

export interface StackOptions {
  readonly root: string;
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dev: boolean;
}

interface Stoppable {
  readonly name: string;
  stop(): Promise<void>;
}

const SECRETS_FILE = "secrets.json";
const EXIT = { clean: 0, failed: 1, forced: 130 } as const;

// The variables that the supervisor uses. The server checks all others.
const settings = z.object({
  CAUSEWAY_ENV: z.string().default("development"),
  PORT: z.coerce.number().int().min(1).max(65535).default(3000),
  HOST: z.string().default("127.0.0.1"),
  PUBLIC_URL: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  DATABASE_DIRECT_URL: z.string().optional(),
  DATABASE_OWNER_URL: z.string().optional(),
  CHAINS_FILE: z.string().optional(),
  DEVNET: z.enum(["0", "1"]).optional(),
});
type Settings = z.output<typeof settings>;

const EXPECTED = [PartError, AlreadyRunningError, EarlierVersionError, ConfigError] as const;

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The message of an expected error; for any other error its stack. */
const describe = (error: unknown): string => {
  if (EXPECTED.some((kind) => error instanceof kind)) return redactSecrets(messageOf(error));
  return redactSecrets(error instanceof Error ? (error.stack ?? error.message) : String(error));
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Reads the supervisor's settings.
 * @throws ConfigError in production with everything that is missing, before any part starts
 * @throws PartError
 */
const readSettings = (environment: StackOptions["environment"]): Settings => {
  if (environment.CAUSEWAY_ENV === "production") loadConfig(environment);
  // An empty value is the usual way to unset a variable in a file.
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== ""),
  );
  const parsed = settings.safeParse(given);
  const problems =
    parsed.error?.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`) ?? [];
  // The server checks the address too, but `next dev` listens without checking it.
  const host = given.CAUSEWAY_ENV === "production" ? null : developmentHostProblem(given);
  if (host !== null) problems.push(host);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new PartError(
    "The configuration",
    problems.join("; "),
    "correct the environment or the file .env.",
  );
};

/**
 * Whether to start the local chains. They do not run in production, with `DEVNET=0`, or when
 * `CHAINS_FILE` names other chains.
 */
const wantsDevnet = (own: Settings): boolean =>
  own.DEVNET !== "0" && own.CHAINS_FILE === undefined && own.CAUSEWAY_ENV !== "production";

/**
 * Resolves at the first signal to stop; a second one ends the process immediately. npm runs scripts
 * in a shell, which does not forward SIGTERM, so the end of that shell counts as a signal too.
 */
const untilStopped = (startedByNpm: boolean): { promise: Promise<void>; stop: () => void } => {
  let stop = (): void => undefined;
  const promise = new Promise<void>((resolve) => (stop = resolve));
  let asked = false;
  const ask = (): void => {
    if (asked) process.exit(EXIT.forced);
    asked = true;
    stop();
  };
  process.on("SIGINT", ask);
  process.on("SIGTERM", ask);
  process.on("SIGHUP", ask);
  if (startedByNpm) onParentEnd(stop);
  return { promise, stop };
};

const stopAll = async (running: Stoppable[]): Promise<boolean> => {
  let clean = true;
  for (const part of running.reverse()) {
    try {
      await part.stop();
    } catch (error) {
      clean = false;
      say(`${part.name} did not stop cleanly: ${messageOf(error)}`);
    }
  }
  return clean;
};

const secretsOf = ({ dataDir, environment }: StackOptions, own: Settings): Partial<Secrets> =>
  own.CAUSEWAY_ENV === "production"
    ? {}
    : developmentSecrets(join(dataDir, SECRETS_FILE), environment);

const appEnvironment = (
  options: StackOptions,
  own: Settings,
  parts: {
    databaseUrl: string;
    chains: ChainsPart | null;
    publicUrl: string;
    secrets: Partial<Secrets>;
  },
): Record<string, string | undefined> => {
  return {
    ...parts.chains?.environment,
    ...options.environment,
    ...parts.secrets,
    DATABASE_URL: parts.databaseUrl,
    // The service never connects as the owner of the tables. The variable is empty instead of
    // absent, so that no `.env` file sets it again.
    DATABASE_OWNER_URL: "",
    DEVNET: parts.chains ? "1" : "0",
    PORT: String(own.PORT),
    HOST: own.HOST,
    // In production PUBLIC_URL has no default, so that the server reports when it is missing.
    PUBLIC_URL:
      own.PUBLIC_URL ?? (own.CAUSEWAY_ENV === "production" ? undefined : parts.publicUrl),
    NEXTAUTH_URL: options.environment.NEXTAUTH_URL || parts.publicUrl,
    NEXT_TELEMETRY_DISABLED: "1",
  };
};

const boardNotes = ({ root, dataDir }: StackOptions): string[] => {
  const short = relative(root, dataDir);
  const place = short.startsWith("..") ? dataDir : short;
  return [`Data and logs are in ${place}. Ctrl-C stops everything; the data stays.`];
};

/**
 * Waits for both promises before it throws the error of one, so that the part that did start can be
 * stopped.
 */
const both = async <A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> => {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === "rejected") throw a.reason;
  if (b.status === "rejected") throw b.reason;
  return [a.value, b.value];
};

const keep = async <T extends { stop(): Promise<void> } | null>(
  running: Stoppable[],
  name: string,
  start: Promise<T>,
): Promise<T> => {
  const begin = performance.now();
  const part = await start;
  if (!part) return part;
  running.push({ name, stop: () => part.stop() });
  say(renderPhase(name, performance.now() - begin));
  return part;
};

interface Started {
  readonly parts: readonly BoardPart[];
  readonly notes: readonly string[];
  readonly url: string;
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string | null;
  readonly rpcUrls: Readonly<Record<string, string>>;
}

/**
 * The database URLs in the settings. `directUrl` is for migrations: they hold a session lock, and a
 * pooler would lend their session to other clients.
 */
const databaseOf = (own: Settings) => ({
  databaseUrl: own.DATABASE_URL,
  directUrl: own.DATABASE_DIRECT_URL === "none" ? undefined : own.DATABASE_DIRECT_URL,
  ownerUrl: own.DATABASE_OWNER_URL,
});

/** Starts every part in order. @returns the state and address of each */
const startParts = async (
  options: StackOptions,
  own: Settings,
  running: Stoppable[],
): Promise<Started> => {
  const url = own.PUBLIC_URL ?? `http://localhost:${String(own.PORT)}`;
  await requireFreePort(own.PORT, own.HOST);
  const { root, dataDir, dev } = options;
  // A data folder in use must stay unchanged when the start of the database fails. Its chains
  // therefore start only after the database.
  const isInUse = existsSync(join(dataDir, SECRETS_FILE));
  const secrets = secretsOf(options, own);
  const executorKey = secrets.EXECUTOR_PRIVATE_KEY ?? options.environment.EXECUTOR_PRIVATE_KEY;
  const chainsOptions = { dataDir, executorKey, environment: options.environment, say };
  const database = keep(
    running,
    "PostgreSQL",
    startPostgresPart({ root, dataDir, ...databaseOf(own), say }),
  );
  if (isInUse) await database;
  const [postgres, chains] = await both(
    database,
    keep(
      running,
      "The local chains",
      wantsDevnet(own) ? startChainsPart(chainsOptions) : Promise.resolve(null),
    ),
  );
  const environment = appEnvironment(options, own, {
    databaseUrl: postgres.url,
    chains,
    publicUrl: url,
    secrets,
  });
  const app = await keep(
    running,
    "The server",
    startAppPart({
      root,
      dataDir,
      dev,
      host: own.HOST,
      port: own.PORT,
      publicUrl: url,
      environment,
      say,
    }),
  );
  return {
    parts: [postgres.board, ...(chains?.boards ?? []), ...app.boards],
    notes: [...postgres.notes, ...boardNotes(options)],
    url,
    databaseUrl: postgres.url,
    databaseOwnerUrl: postgres.ownerUrl,
    rpcUrls: chains?.rpcUrls ?? {},
  };
};

const runLocked = async (
  options: StackOptions,
  own: Settings,
  publish: (url: string) => void,
): Promise<number> => {
  const begin = performance.now();
  const running: Stoppable[] = [];
  const stopped = untilStopped(options.environment.npm_lifecycle_event !== undefined);
  const failures: unknown[] = [];
  const fail = (error: unknown): void => {
    failures.push(error);
    stopped.stop();
  };
  const starting = startParts(options, own, running).then(
    ({ parts, notes, url, ...reached }) => {
      publish(url);
      say(
        renderBoard(
          { parts, notes, url, readyMs: performance.now() - begin },
          process.stdout.isTTY,
        ),
      );
      process.send?.({ type: "ready", url, ...reached });
    },
    fail,
  );
  await stopped.promise;
  if (failures.length === 0) say("\nStopping …");
  // A part can be stopped only after its start has ended.
  await starting;
  const clean = await stopAll(running);
  const [failure] = failures;
  if (failure !== undefined) process.stderr.write(`\n${describe(failure)}\n\n`);
  else
    say(
      clean
        ? "Stopped. The data stays; `npm start` goes on from here."
        : "Stopped, not everything cleanly.",
    );
  return failure === undefined && clean ? EXIT.clean : EXIT.failed;
};

/**
 * Runs the whole stack until it is told to stop.
 * @returns the exit code: 0 after a clean stop, 1 when a part could not start or another stack uses
 * the same data
 */
export const runStack = async (options: StackOptions): Promise<number> => {
  // Without a listener a line that cannot be written (a full disk, a closed terminal) would end the
  // supervisor.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  try {
    const own = readSettings(options.environment);
    requireWritable(options.dataDir);
    const lock = acquireLock(join(options.dataDir, "stack.lock"));
    try {
      return await runLocked(options, own, (url) => lock.publish(url));
    } finally {
      lock.release();
    }
  } catch (error) {
    process.stderr.write(`\n${describe(error)}\n\n`);
    return EXIT.failed;
  }
};
