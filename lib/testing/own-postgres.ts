import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { backUp } from "@/lib/stack/postgres/backup";
import { startEmbeddedPostgres } from "@/lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "@/lib/db/migrate";
import { endProcess } from "@/lib/os/process.mjs";
import { makeWorkspace } from "./workspace";
import { afterFile } from "./after-file";

const DATABASE = "causeway";
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));
const KILL = [{ signal: "SIGKILL", waitMs: 10_000 }] as const;

export interface OwnPostgres {
  readonly url: string;
  /** Ends the server with kill -9. Resolves when it has ended; its committed data is on disk. */
  crash(): Promise<void>;
  /** Starts it again, on the same port. Resolves once it answers. */
  restart(): Promise<void>;
  /** A backup of it as it is now, in a folder of its own. */
  backUp(): Promise<string>;
  /** A place for another server, which is deleted after the file. */
  elsewhere(name: string): string;
  /** Asks it past the service, on a connection with the name `observer`. */
  observe<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
}

interface OwnPostgresOptions {
  /** `max_connections`. Default: that of the embedded server. */
  readonly connectionsMax?: number;
}

/** A migrated PostgreSQL of one file's own, which it may kill. Stopped and deleted after the file. */
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
  const url = server.url(DATABASE);
  await migrateDeploy(url, MIGRATIONS);
  return {
    url,
    crash: async () => {
      await endProcess(server.pid, KILL);
    },
    restart: async () => {
      server = await startEmbeddedPostgres({ dataDir, port, ...options });
    },
    backUp: async () => {
      const target = join(folder, `backup-${crypto.randomUUID()}`);
      await backUp({ url, dataDir: server.dataDir, target });
      return target;
    },
    elsewhere: (name) => join(folder, name),
    observe: async <Row extends object>(sql: string, values: readonly unknown[] = []) => {
      const client = new pg.Client({ connectionString: url, application_name: "observer" });
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
