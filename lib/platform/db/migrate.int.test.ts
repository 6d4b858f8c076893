import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { emptyDatabase } from "@/lib/dev/testing/database";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { migrateDeploy } from "./migrate";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MIGRATIONS = join(ROOT, "prisma/migrations");
const run = promisify(execFile);
const workspace = await makeWorkspace();

afterAll(() => workspace.remove());

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

/** A folder with these migrations, by name. */
const folderWith = (migrations: Record<string, string>): string => {
  const folder = mkdtempSync(join(workspace.folder, "migrations-"));
  for (const [name, sql] of Object.entries(migrations)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "migration.sql"), sql);
  }
  return folder;
};

describe("migrateDeploy", () => {
  test("five processes at once apply each migration exactly once", async () => {
    const { url } = await emptyDatabase();
    const results = await Promise.all(
      Array.from({ length: 5 }, () => migrateDeploy(url, MIGRATIONS)),
    );
    const applied = results.flat();
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied).size).toBe(applied.length);
    expect(await migrateDeploy(url, MIGRATIONS)).toEqual([]);
    const rows = await query(
      url,
      "SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL",
    );
    expect(rows).toHaveLength(applied.length);
  });

  test("a migration takes as long as it needs, whatever statements of the service may take", async () => {
    const { url } = await emptyDatabase();
    const name = new URL(url).pathname.slice(1);
    await query(url, `ALTER DATABASE ${name} SET statement_timeout = '50ms'`);
    await expect(query(url, "SELECT pg_sleep(1)")).rejects.toThrow("statement timeout");
    expect(await migrateDeploy(url, folderWith({ "1_slow": "SELECT pg_sleep(1)" }))).toEqual([
      "1_slow",
    ]);
  });

  test("Prisma's own CLI sees nothing left to do", async () => {
    const { url } = await emptyDatabase();
    await migrateDeploy(url, MIGRATIONS);
    const env = {
      PATH: `${process.execPath.replace(/\/node$/, "")}:/usr/bin:/bin`,
      DATABASE_URL: url,
      NODE_ENV: "test" as const,
    };
    const prisma = async (...args: string[]): Promise<string> =>
      (
        await run(
          process.execPath,
          [join(ROOT, "node_modules/prisma/build/index.js"), ...args],
          {
            cwd: ROOT,
            env,
          },
        )
      ).stdout;
    expect(await prisma("migrate", "status")).toContain("Database schema is up to date");
    expect(await prisma("migrate", "deploy")).toContain("No pending migrations");
  });

  test("a migration that was edited after it ran is refused by name", async () => {
    const { url } = await emptyDatabase();
    const folder = mkdtempSync(join(workspace.folder, "migrations-"));
    cpSync(MIGRATIONS, folder, { recursive: true });
    const [first] = await migrateDeploy(url, folder);
    appendFileSync(join(folder, String(first), "migration.sql"), "\n-- edited\n");
    await expect(migrateDeploy(url, folder)).rejects.toThrow(`${String(first)} was edited`);
  });

  test("a database of an earlier, unreleased version is refused in one sentence, and stays as it is", async () => {
    const { url } = await emptyDatabase();
    await migrateDeploy(
      url,
      folderWith({ "1_init": "CREATE TABLE kept (id int)", "2_more": "" }),
    );
    const history = "SELECT * FROM _prisma_migrations ORDER BY migration_name";
    const before = await query(url, history);
    await expect(migrateDeploy(url, MIGRATIONS)).rejects.toThrow(
      "An earlier, unreleased version of Causeway made this database, and this version cannot read it: let DATABASE_URL name an empty database.",
    );
    expect(await query(url, history)).toEqual(before);
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
    expect(await query(url, tables)).toEqual([
      { tablename: "_prisma_migrations" },
      { tablename: "kept" },
    ]);
  });

  test("a database of a later version, which has every migration of this one, is accepted", async () => {
    const { url } = await emptyDatabase();
    const first = { "1_init": "CREATE TABLE a (id int);" };
    await migrateDeploy(url, folderWith({ ...first, "2_later": "CREATE TABLE b (id int);" }));
    expect(await migrateDeploy(url, folderWith(first))).toEqual([]);
  });

  test("a migration that fails leaves nothing behind and runs once it is mended", async () => {
    const { url } = await emptyDatabase();
    const broken = folderWith({
      "1_first": "CREATE TABLE a (id int); CREATE TABLE a (id int);",
    });
    await expect(migrateDeploy(url, broken)).rejects.toThrow("1_first failed");
    const mended = folderWith({ "1_first": "CREATE TABLE a (id int);" });
    expect(await migrateDeploy(url, mended)).toEqual(["1_first"]);
  });

  test("a statement that refuses a transaction is run without one", async () => {
    const { url } = await emptyDatabase();
    const folder = folderWith({
      "1_table": "CREATE TABLE a (id int);",
      "2_index": "CREATE INDEX CONCURRENTLY a_id ON a (id);",
    });
    expect(await migrateDeploy(url, folder)).toEqual(["1_table", "2_index"]);
    expect(await query(url, "SELECT 1 FROM pg_indexes WHERE indexname = 'a_id'")).toHaveLength(
      1,
    );
  });
});

describe("an upgrade", () => {
  test("an index is built without a lock by one of five processes that start at once", async () => {
    const { url } = await emptyDatabase();
    const folder = folderWith({
      "1_table": "CREATE TABLE a (id int);",
      "2_index": "CREATE INDEX CONCURRENTLY a_id ON a (id);",
    });
    const results = await Promise.all(
      Array.from({ length: 5 }, () => migrateDeploy(url, folder)),
    );
    expect(results.flat()).toEqual(["1_table", "2_index"]);
  });
});
