import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { APP_ROLE, startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import {
  startAssociationProvider,
  type AssociationProvider,
} from "@/lib/dev/devnet/association/provider";
import { startDevnet } from "@/lib/dev/devnet/devnet";
import { startSolver } from "@/lib/dev/devnet/solver";
import { startCluster } from "./cluster";
import { bundleEntries } from "./entries";
import { startHub, type SharedDevnet, type SharedPostgres } from "./hub";
import { makeWorkspace } from "./workspace";

const TEMPLATE = "causeway_template";
const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));

type Stop = () => Promise<unknown>;

/** Like `maxWorkers` in vitest.config.ts: the number of files that run at the same time. */
const WORKERS = availableParallelism() + 1;
/**
 * Connections of the largest test files: their own pool (10), the services (20), and four more
 * processes or services with 20 connections each.
 */
const CONNECTIONS_PER_FILE = 120;
const COUNT_EVERY_MS = 1_000;

/**
 * Records the number of connections to the server until it is stopped, and prints the maximum with
 * the limit.
 */
const watchConnections = async (url: string): Promise<Stop> => {
  const client = new pg.Client({ connectionString: url, application_name: "connection count" });
  client.on("error", () => undefined);
  await client.connect();
  let most = 0;
  let limit = 0;
  const count = async (): Promise<void> => {
    const { rows } = await client.query<{ count: number; limit: number }>(
      `SELECT count(*)::int AS count, current_setting('max_connections')::int AS limit
       FROM pg_stat_activity WHERE backend_type = 'client backend'`,
    );
    most = Math.max(most, rows[0]?.count ?? 0);
    limit = rows[0]?.limit ?? 0;
  };
  const timer = setInterval(() => void count().catch(() => undefined), COUNT_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    await count().catch(() => undefined);
    await client.end().catch(() => undefined);
    console.log(
      `PostgreSQL had at most ${String(most)} connections; it allows ${String(limit)}.`,
    );
  };
};

const startPostgres = async (folder: string, stops: Stop[]): Promise<SharedPostgres> => {
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "postgres"),
    durability: "none",
    connectionsMax: CONNECTIONS_PER_FILE * WORKERS,
  });
  const stopWatching = await watchConnections(postgres.url("postgres"));
  stops.push(async () => {
    await stopWatching();
    await postgres.stop();
  });
  await postgres.ensureDatabase(TEMPLATE);
  await postgres.ensureAppRole();
  await migrateDeploy(postgres.url(TEMPLATE), MIGRATIONS, APP_ROLE);
  return {
    urlPattern: postgres.url("DATABASE"),
    appUrlPattern: postgres.appUrl("DATABASE"),
    template: TEMPLATE,
  };
};

interface StartedChains extends SharedDevnet {
  readonly association: AssociationProvider;
}

/**
 * Starts the chains and their solver. `ignored` contains the depositors whose deposits the solver
 * does not fill.
 */
const startChains = async (
  folder: string,
  ignored: ReadonlySet<string>,
  stops: Stop[],
): Promise<StartedChains> => {
  const log = (): void => undefined;
  const devnet = await startDevnet({ dataDir: join(folder, "chains"), persist: false, log });
  const solver = startSolver({ chains: devnet.chains, log });
  solver.ignore(({ depositor }) => ignored.has(depositor.toLowerCase()));
  const association = await startAssociationProvider({
    chains: devnet.chains,
    port: 0,
    delayMs: 0,
    log,
  });
  stops.push(async () => {
    await solver.stop();
    await association.stop();
    await devnet.stop();
  });
  const rpcUrls = Object.fromEntries(
    devnet.chains.map(({ chainId, rpcUrl }) => [String(chainId), rpcUrl]),
  );
  return { rpcUrls, associationUrl: association.url, association };
};

const seedOf = (project: TestProject): number => {
  const { seed } = project.vitest.config.sequence;
  // Set when the command line has a seed; otherwise it is absent, although the type says it is not.
  return Number.isFinite(seed) ? seed : Date.now();
};

/**
 * Runs once per run: starts the hub from which test files request PostgreSQL and the local chains.
 */
export const setup = async (project: TestProject): Promise<Stop> => {
  const workspace = await makeWorkspace();
  const stops: Stop[] = [];
  let postgres: Promise<SharedPostgres> | null = null;
  let devnet: Promise<StartedChains> | null = null;
  const startedChains = (): Promise<StartedChains> =>
    (devnet ??= startChains(workspace.folder, ignored, stops));
  const ignored = new Set<string>();
  const { clusterUrl } = project.getProvidedContext();
  const startServer = (): Promise<SharedPostgres> =>
    clusterUrl === undefined
      ? startPostgres(workspace.folder, stops)
      : startCluster(clusterUrl, MIGRATIONS, stops);
  const hub = await startHub({
    postgres: () => (postgres ??= startServer()),
    devnet: async () => {
      const { rpcUrls, associationUrl } = await startedChains();
      return { rpcUrls, associationUrl };
    },
    ignore: (depositor) => Promise.resolve(ignored.add(depositor.toLowerCase())),
    decline: async (depositor) => {
      await (await startedChains()).association.decline(depositor as `0x${string}`);
      return {};
    },
    heed: (depositor) => Promise.resolve({ known: ignored.delete(depositor.toLowerCase()) }),
  });
  const seed = seedOf(project);
  console.log(`Random keys of this run: --sequence.seed=${String(seed)}`);
  project.provide("testSeed", seed);
  project.provide("testHub", hub.url);
  const entries = await bundleEntries();
  project.provide("entries", entries.folder);
  return async () => {
    await hub.close();
    await Promise.allSettled([postgres, devnet]);
    await Promise.allSettled(stops.map((stop) => stop()));
    entries.remove();
    workspace.remove();
  };
};
