import { join } from "node:path";
import {
  APP_ROLE,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "./postgres/embedded-postgres";
import { EarlierVersionError, migrateDeploy, roleOf } from "@/lib/platform/db/migrate";
import type { BoardPart } from "./board";
import { startPart } from "./part-error";

export interface PostgresPart {
  /** URL for the service's role. */
  readonly url: string;
  /** URL for the owner of the tables; null when only the service's URL is known. */
  readonly ownerUrl: string | null;
  readonly board: BoardPart;
  readonly notes: readonly string[];
  stop(): Promise<void>;
}

interface PostgresPartOptions {
  readonly root: string;
  readonly dataDir: string;
  /** URL of the user's own server; the embedded server starts when absent. */
  readonly databaseUrl: string | undefined;
  /** URL of the same server without a pooler, for migrations. Default: `databaseUrl`. */
  readonly directUrl?: string | undefined;
  /** URL of the same server for the owner of the tables, for migrations. Default: `directUrl`. */
  readonly ownerUrl?: string | undefined;
  readonly say: (line: string) => void;
}

const DATABASE = "causeway";
const WATCH_MS = 1_000;
const ADVICE =
  "Free the disk or the port it names, or set DATABASE_URL to a server of your own. `npm run reset` removes all data.";
const MIGRATIONS = "prisma/migrations";

const beginAnew = (dataDir: string): string =>
  `\`npm run reset\` removes all data in ${dataDir} and begins anew, and \`CAUSEWAY_DATA_DIR=/path npm start\` begins in another folder`;

const addressOf = (url: string): string => {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
};

const migrate = async (
  url: string,
  root: string,
  appRole: () => Promise<string | undefined>,
): Promise<string> => {
  const { value } = await startPart(
    "The database's migrations",
    "Read the reason; with an own server check DATABASE_URL, DATABASE_OWNER_URL and the rights of their roles.",
    async () => migrateDeploy(url, join(root, MIGRATIONS), await appRole()),
  );
  return value.length > 0 ? `${String(value.length)} migration(s) applied` : "";
};

/** Restarts the server when it ends by itself. It keeps its port, so clients can reconnect. */
const watch = (
  first: EmbeddedPostgres,
  start: (signal: AbortSignal) => Promise<EmbeddedPostgres>,
  say: (line: string) => void,
) => {
  const stopping = new AbortController();
  let current = first;
  let restarting: Promise<void> | null = null;
  const restart = async (): Promise<void> => {
    say("PostgreSQL ended by itself; starting it again.");
    try {
      current = await start(stopping.signal);
      say("PostgreSQL is ready again.");
    } catch (error) {
      if (!stopping.signal.aborted) say(error instanceof Error ? error.message : String(error));
    }
    restarting = null;
  };
  const timer = setInterval(() => {
    if (!restarting && !current.isRunning()) restarting = restart();
  }, WATCH_MS);
  return {
    stop: async (): Promise<void> => {
      clearInterval(timer);
      stopping.abort();
      await restarting;
      if (!(await current.stop()))
        say(
          "PostgreSQL did not answer and was ended at once. The next start recovers its data.",
        );
    },
  };
};

/**
 * Starts the embedded database, or uses the one in `DATABASE_URL`, and applies every migration.
 * @throws PartError, EarlierVersionError
 */
export const startPostgresPart = async (
  options: PostgresPartOptions,
): Promise<PostgresPart> => {
  const { databaseUrl, directUrl = databaseUrl, ownerUrl, dataDir, root, say } = options;
  const begin = performance.now();
  if (databaseUrl) {
    const appUrl = directUrl ?? databaseUrl;
    const appRole = (): Promise<string | undefined> =>
      ownerUrl === undefined ? Promise.resolve(undefined) : roleOf(appUrl);
    const detail = await migrate(ownerUrl ?? appUrl, root, appRole);
    return {
      url: databaseUrl,
      ownerUrl: ownerUrl ?? null,
      board: {
        name: "PostgreSQL",
        state: "ready",
        detail: detail || "your server",
        address: addressOf(databaseUrl),
        tookMs: performance.now() - begin,
      },
      notes: [],
      stop: () => Promise.resolve(),
    };
  }
  const folder = join(dataDir, "postgres");
  const { value: postgres } = await startPart("PostgreSQL", ADVICE, () =>
    startEmbeddedPostgres({ dataDir: folder }),
  );
  const startAgain = (signal: AbortSignal): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir: folder, port: postgres.port, signal });
  const watched = watch(postgres, startAgain, say);
  try {
    await startPart("PostgreSQL", ADVICE, () => postgres.ensureDatabase(DATABASE));
    await startPart("PostgreSQL", ADVICE, () => postgres.ensureAppRole());
    const url = postgres.appUrl(DATABASE);
    const migrated = await migrate(postgres.url(DATABASE), root, () =>
      Promise.resolve(APP_ROLE),
    );
    const detail = [postgres.adopted ? "taken over" : "", migrated].filter(Boolean).join(", ");
    return {
      url,
      ownerUrl: postgres.url(DATABASE),
      board: {
        name: "PostgreSQL",
        state: "ready",
        ...(detail ? { detail } : {}),
        address: addressOf(url),
        tookMs: performance.now() - begin,
      },
      notes: postgres.moved ? [postgres.moved] : [],
      stop: () => watched.stop(),
    };
  } catch (error) {
    await watched.stop();
    throw error instanceof EarlierVersionError
      ? new EarlierVersionError(beginAnew(dataDir))
      : error;
  }
};
