import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { migrateDeploy } from "../lib/db/migrate";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { makeWorkspace } from "../lib/testing/workspace";

const MIGRATIONS = fileURLToPath(new URL("../prisma/migrations", import.meta.url));
const SERVER = fileURLToPath(new URL("../lib/testing/api-server.ts", import.meta.url));

/** An instance of the API in a process of its own. */
export interface BenchServer {
  readonly url: string;
  readonly child: ChildProcess;
}

export const startServer = async (environment: NodeJS.ProcessEnv): Promise<BenchServer> => {
  const child = fork(SERVER, [], {
    env: environment,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { url: `http://127.0.0.1:${String(port)}`, child };
};

export const stopServer = async ({ child }: BenchServer): Promise<void> => {
  const ended = once(child, "exit");
  child.kill();
  await ended;
};

const secret = (): string => `dev_${randomBytes(32).toString("hex")}`;

/** The variables of an instance in production mode on this database, without chains and without limits of requests. */
export const environmentOn = (databaseUrl: string): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{ DATABASE_URL: databaseUrl, LOG_LEVEL: "error", NODE_ENV: "production" as const, DEVNET: "0" },
  ...{ APP_SECRET: secret(), KEY_ENCRYPTION_KEY: secret(), EXECUTOR_PRIVATE_KEY: secret().replace("_", "_0x") },
  ...{ RATE_LIMIT_PER_KEY: "0", RATE_LIMIT_PER_IP: "0", RATE_LIMIT_SIGN_IN_PER_IP: "0" },
});

export interface BenchDatabase {
  readonly folder: string;
  /** URL of a database of this name, which is made and migrated. */
  readonly create: (name: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** An embedded PostgreSQL in a folder of its own. */
export const startDatabase = async (): Promise<BenchDatabase> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({ dataDir: `${workspace.folder}/postgres` });
  return {
    folder: workspace.folder,
    create: async (name) => {
      await postgres.ensureDatabase(name);
      await migrateDeploy(postgres.url(name), MIGRATIONS);
      return postgres.url(name);
    },
    stop: async () => {
      await postgres.stop();
      workspace.remove();
    },
  };
};

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
