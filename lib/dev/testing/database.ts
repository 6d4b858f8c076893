import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect } from "vitest";
import { createDatabase, type Database } from "@/lib/platform/db/client";
import { sharedPostgres } from "./hub";
import { afterFile } from "./after-file";
import { ownerUrlOf, rememberOwner } from "./owner-urls";

export interface TestDatabase {
  /** URL with the role of the service, which owns nothing. */
  readonly url: string;
  /** Uses the role of the service. */
  readonly database: Database;
  /** URL with the owner of the tables, a superuser. */
  readonly ownerUrl: string;
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

/**
 * Number of connections that are still open after the file has closed its services. Backends take a
 * moment to end.
 */
const openConnections = async (url: string, name: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let waitedMs = 0; ; waitedMs += ENDING_POLL_MS) {
      const { rows } = await client.query<{ count: number }>(
        // Internal connections of a cluster are not counted.
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

const DROP_ATTEMPTS = 5;

/**
 * Drops a database. Retries, because PostgreSQL waits only five seconds for the backends that it
 * ends, and on a busy machine they take longer.
 */
const drop = async (node: string, name: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await administer(node, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      if (attempt === DROP_ATTEMPTS) throw error;
    }
  }
};

/** @returns the URLs of a new database, as the owner and as the role of the service */
const createFrom = async (
  template: string | null,
): Promise<{ ownerUrl: string; appUrl: string }> => {
  const shared = await sharedPostgres();
  const url = (name: string): string => shared.urlPattern.replace(/DATABASE$/, name);
  const name = `test_${randomBytes(8).toString("hex")}`;
  const file = expect.getState().testPath ?? "a test file";
  // On a single server, copying the files is faster than logging every page, because the template
  // is small.
  const strategy = shared.workers === undefined ? "FILE_COPY" : "WAL_LOG";
  const source = template === null ? "template0" : `${template} STRATEGY ${strategy}`;
  const nodes = [shared.urlPattern, ...(shared.workers ?? [])].map((node) =>
    node.replace(/DATABASE$/, "postgres"),
  );
  // A template can be copied only while nobody is connected to it, so the nodes copy it one after
  // another.
  for (const node of nodes)
    await administer(node, `CREATE DATABASE ${name} TEMPLATE ${source}`);
  // Registered first, so it runs after the hooks that close the file's services.
  afterFile(async () => {
    const open = await openConnections(url("postgres"), name);
    if (open > 0)
      console.warn(`${file}: ${String(open)} connections were still open after the last test.`);
    for (const node of nodes) await drop(node, name);
  });
  rememberOwner(url(name));
  return { ownerUrl: url(name), appUrl: shared.appUrlPattern.replace(/DATABASE$/, name) };
};

interface TestDatabaseOptions {
  /**
   * With `owner`, `url` and `database` use the owner's role, for tests that create tables. Default:
   * `app`.
   */
  readonly role?: "app" | "owner";
}

/**
 * A separate migrated database for this test file on the shared PostgreSQL. Call it once at the top
 * of the file (`const { database } = await testDatabase()`) or in `beforeAll`; it is closed and
 * dropped after the file.
 */
export const testDatabase = async ({
  role = "app",
}: TestDatabaseOptions = {}): Promise<TestDatabase> => {
  const { template } = await sharedPostgres();
  const { ownerUrl, appUrl } = await createFrom(template);
  const url = role === "owner" ? ownerUrl : appUrl;
  const database = createDatabase(url, { poolSize: POOL_SIZE });
  // Hooks run in reverse order, so this one closes the connections before the database is dropped.
  afterFile(() => database.close());
  return { url, database, ownerUrl };
};

/** A database without tables, for tests of the migrations themselves. */
export const emptyDatabase = async (): Promise<{ url: string }> => ({
  url: (await createFrom(null)).ownerUrl,
});

/**
 * Runs statements as the owner of the tables, because the service's role may not. `url` names a
 * database of this file.
 */
export const asOwner = async <Row extends object>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: ownerUrlOf(url) });
  client.on("error", () => undefined); // The pending query reports the error.
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows;
  } finally {
    await client.end();
  }
};
