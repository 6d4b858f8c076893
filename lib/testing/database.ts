import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { createDatabase, type Database } from "@/lib/db/client";
import { sharedPostgres } from "./hub";
import { afterFile } from "./after-file";

export interface TestDatabase {
  readonly url: string;
  readonly database: Database;
}

const POOL_SIZE = 10;

const administer = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

const ENDING_MS = 2_000;
const ENDING_POLL_MS = 50;

/** Connections that stay open although the file has closed its services. Backends take a moment to end. */
const openConnections = async (url: string, name: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let waitedMs = 0; ; waitedMs += ENDING_POLL_MS) {
      const { rows } = await client.query<{ count: number }>(
        // A cluster keeps connections of its own.
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = $1 AND backend_type = 'client backend' AND application_name NOT LIKE 'citus%'`,
        [name],
      );
      const count = rows[0]?.count ?? 0;
      if (count === 0 || waitedMs >= ENDING_MS) return count;
      await sleep(ENDING_POLL_MS);
    }
  } finally {
    await client.end();
  }
};

const createFrom = async (template: string | null): Promise<string> => {
  const shared = await sharedPostgres();
  const url = (name: string): string => shared.urlPattern.replace(/DATABASE$/, name);
  const name = `test_${randomBytes(8).toString("hex")}`;
  const file = expect.getState().testPath ?? "a test file";
  // Copying the files is faster than logging every page, because the template is small and the log is not needed.
  const strategy = shared.workers === undefined ? "FILE_COPY" : "WAL_LOG";
  const source = template === null ? "template0" : `${template} STRATEGY ${strategy}`;
  const nodes = [shared.urlPattern, ...(shared.workers ?? [])].map((node) => node.replace(/DATABASE$/, "postgres"));
  // A template is copied only while nobody is connected to it, so one node after the other does it.
  for (const node of nodes) await administer(node, `CREATE DATABASE ${name} TEMPLATE ${source}`);
  // Registered first, so it runs after the hooks that close the file's services.
  afterFile(async () => {
    const open = await openConnections(url("postgres"), name);
    if (open > 0) console.warn(`${file}: ${String(open)} connections were still open after the last test.`);
    for (const node of nodes) await administer(node, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return url(name);
};

/**
 * A migrated database of this test file's own on the shared PostgreSQL. Call it once at the top of the file
 * (`const { database } = await testDatabase()`) or in `beforeAll`; it is closed and dropped after the file.
 */
export const testDatabase = async (): Promise<TestDatabase> => {
  const { template } = await sharedPostgres();
  const url = await createFrom(template);
  const database = createDatabase(url, { poolSize: POOL_SIZE });
  // Hooks run in reverse order: this one before the drop.
  afterFile(() => database.close());
  return { url, database };
};

/** A database without any table: for tests of the migrations themselves. */
export const emptyDatabase = async (): Promise<{ url: string }> => ({ url: await createFrom(null) });
