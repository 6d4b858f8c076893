import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll } from "vitest";
import { createDatabase, type Database } from "@/lib/db/client";
import { sharedPostgres } from "./hub";

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

const createFrom = async (template: string | null): Promise<string> => {
  const shared = await sharedPostgres();
  const url = (name: string): string => shared.urlPattern.replace(/DATABASE$/, name);
  const name = `test_${randomBytes(8).toString("hex")}`;
  // Copying the files is faster than logging every page, because the template is small and the log is not needed.
  const source = template === null ? "template0" : `${template} STRATEGY FILE_COPY`;
  await administer(url("postgres"), `CREATE DATABASE ${name} TEMPLATE ${source}`);
  afterAll(() => administer(url("postgres"), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
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
  afterAll(() => database.close());
  return { url, database };
};

/** A database without any table: for tests of the migrations themselves. */
export const emptyDatabase = async (): Promise<{ url: string }> => ({ url: await createFrom(null) });
