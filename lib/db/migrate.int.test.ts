import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { emptyDatabase } from "@/lib/testing/database";
import { makeWorkspace } from "@/lib/testing/workspace";
import { migrateDeploy } from "./migrate";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
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

/** A folder with the given migrations, by name. */
const folderWith = (migrations: Record<string, string>): string => {
  const folder = mkdtempSync(join(workspace.folder, "migrations-"));
  for (const [name, sql] of Object.entries(migrations)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "migration.sql"), sql);
  }
  return folder;
};

/** A folder with the migrations before the named one. */
const folderUpTo = (name: string): string => {
  const earlier = readdirSync(MIGRATIONS).filter((one) => /^\d/.test(one) && one < name);
  return folderWith(
    Object.fromEntries(earlier.map((one) => [one, readFileSync(join(MIGRATIONS, one, "migration.sql"), "utf8")])),
  );
};

describe("migrateDeploy", () => {
  test("five processes at once apply each migration exactly once", async () => {
    const { url } = await emptyDatabase();
    const results = await Promise.all(Array.from({ length: 5 }, () => migrateDeploy(url, MIGRATIONS)));
    const applied = results.flat();
    expect(applied.length).toBeGreaterThan(0);
    expect(new Set(applied).size).toBe(applied.length);
    expect(await migrateDeploy(url, MIGRATIONS)).toEqual([]);
    const rows = await query(url, "SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL");
    expect(rows).toHaveLength(applied.length);
  });

  test("a migration takes as long as it needs, whatever statements of the service may take", async () => {
    const { url } = await emptyDatabase();
    const name = new URL(url).pathname.slice(1);
    await query(url, `ALTER DATABASE ${name} SET statement_timeout = '50ms'`);
    await expect(query(url, "SELECT pg_sleep(1)")).rejects.toThrow("statement timeout");
    expect(await migrateDeploy(url, folderWith({ "1_slow": "SELECT pg_sleep(1)" }))).toEqual(["1_slow"]);
  });

  test("a database that ran the ledger's migration as it was before PostgreSQL 15 could run it is accepted", async () => {
    const { url } = await emptyDatabase();
    await migrateDeploy(url, MIGRATIONS);
    const set = (checksum: string) =>
      query(
        url,
        `UPDATE _prisma_migrations SET checksum = '${checksum}' WHERE migration_name = '20261121130000_ledger' RETURNING 1`,
      );
    expect(await set("e0fe35312978ed47df71258f140f55984093c6a88b80d964ee8039ef6465fd1c")).toHaveLength(1);
    expect(await migrateDeploy(url, MIGRATIONS)).toEqual([]);
    await set("0".repeat(64));
    await expect(migrateDeploy(url, MIGRATIONS)).rejects.toThrow("was edited after it was applied");
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
      (await run(process.execPath, [join(ROOT, "node_modules/prisma/build/index.js"), ...args], { cwd: ROOT, env }))
        .stdout;
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

  test("a migration that fails leaves nothing behind and runs once it is mended", async () => {
    const { url } = await emptyDatabase();
    const broken = folderWith({ "1_first": "CREATE TABLE a (id int); CREATE TABLE a (id int);" });
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
    expect(await query(url, "SELECT 1 FROM pg_indexes WHERE indexname = 'a_id'")).toHaveLength(1);
  });
});

describe("an upgrade", () => {
  test("an index is built without a lock by one of five processes that start at once", async () => {
    const { url } = await emptyDatabase();
    const folder = folderWith({
      "1_table": "CREATE TABLE a (id int);",
      "2_index": "CREATE INDEX CONCURRENTLY a_id ON a (id);",
    });
    const results = await Promise.all(Array.from({ length: 5 }, () => migrateDeploy(url, folder)));
    expect(results.flat()).toEqual(["1_table", "2_index"]);
  });

  test("batches of payouts that were stored before they named their wallet are given that of their payout", async () => {
    const { url } = await emptyDatabase();
    await migrateDeploy(url, folderUpTo("20261123150100_guard_sums"));
    await query(
      url,
      `INSERT INTO wallet_payout (project_id, payout_id, chain_id, from_wallet_id, from_address, totals, warnings, fee_wei, fee_paid_by)
       SELECT 'prj_' || p, 'po_' || n, p * 1000 + n, 'wal', '0xWallet' || p || n, '[]', '[]', 0, 'wallet'
       FROM generate_series(1, 2) AS p, generate_series(1, 40) AS n;
       INSERT INTO wallet_payout_batch (project_id, payout_id, number, token, rows, amount_base, state, updated_at)
       SELECT 'prj_' || p, 'po_' || n, b, 'native', 1, 1, 'mined', now()
       FROM generate_series(1, 2) AS p, generate_series(1, 40) AS n, generate_series(0, 24) AS b`,
    );
    expect(await migrateDeploy(url, MIGRATIONS)).toContain("20261123150100_guard_sums");
    const batches = await query(
      url,
      `SELECT count(*)::int AS all, count(*) FILTER (WHERE b.wallet_address = p.from_address AND b.chain_id = p.chain_id)::int AS right
       FROM wallet_payout_batch b JOIN wallet_payout p USING (project_id, payout_id)`,
    );
    expect(batches).toEqual([{ all: 2000, right: 2000 }]);
  });
});
