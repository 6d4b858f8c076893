import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { backUp } from "@/lib/stack/postgres/backup";
import { APP_ROLE, startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { endProcess } from "@/lib/platform/os/process.mjs";
import { makeWorkspace } from "./workspace";
import { afterFile } from "./after-file";
import { rememberOwner } from "./owner-urls";

const DATABASE = "causeway";
const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));
const KILL = [{ signal: "SIGKILL", waitMs: 10_000 }] as const;

export interface OwnPostgres {
  /** URL with the role of the service in production, which owns no table. */
  readonly url: string;
  /** URL with the owner of the tables, a superuser. */
  readonly ownerUrl: string;
  /** Ends the server with kill -9. Resolves when it has ended; its committed data is on disk. */
  crash(): Promise<void>;
  /** Restarts the server on the same port. Resolves once it answers. */
  restart(): Promise<void>;
  /** Makes a backup of the current state in a separate folder. */
  backUp(): Promise<string>;
  /** A path for another server, which is deleted after the file. */
  elsewhere(name: string): string;
  /** Queries the server directly as its owner, on a connection named `observer`. */
  observe<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

interface OwnPostgresOptions {
  /** The server's `max_connections`. By default that of the embedded server. */
  readonly connectionsMax?: number;
}

/**
 * A separate migrated PostgreSQL for one file, which may kill it. Stopped and deleted after the
 * file.
 */
export const ownPostgres = async (options: OwnPostgresOptions = {}): Promise<OwnPostgres> => {
  const { folder, remove } = await makeWorkspace();
  const dataDir = join(folder, "postgres");
  let server = await startEmbeddedPostgres({ dataDir, ...options });
  const { port } = server;
  afterFile(async () => {
    await server.stop();
    remove();
  });
  await server.ensureDatabase(DATABASE);
  await server.ensureAppRole();
  const ownerUrl = server.url(DATABASE);
  rememberOwner(ownerUrl);
  await migrateDeploy(ownerUrl, MIGRATIONS, APP_ROLE);
  return {
    url: server.appUrl(DATABASE),
    ownerUrl,
    crash: async () => {
      await endProcess(server.pid, KILL);
    },
    restart: async () => {
      server = await startEmbeddedPostgres({ dataDir, port, ...options });
    },
    backUp: async () => {
      const target = join(folder, `backup-${crypto.randomUUID()}`);
      await backUp({ url: ownerUrl, dataDir: server.dataDir, target });
      return target;
    },
    elsewhere: (name) => join(folder, name),
    observe: async <Row extends object>(sql: string, values: readonly unknown[] = []) => {
      const client = new pg.Client({
        connectionString: ownerUrl,
        application_name: "observer",
      });
      client.on("error", () => undefined);
      await client.connect();
      try {
        return (await client.query<Row>(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
  };
};
