/** This version goes on while the next one has migrated the database already, as in an upgrade without a stop. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrateDeploy } from "@/lib/db/migrate";
import { afterFile } from "@/lib/testing/after-file";
import { testApi } from "@/lib/testing/api";
import { mainJourney } from "@/lib/testing/main-journey";
import { contractionsOf } from "@/lib/testing/migration-rules";
import { webhookReceiver } from "@/lib/testing/webhook-receiver";

const MIGRATIONS = "prisma/migrations";
const NEXT = "29991231235959_next_version";
const TABLES_MIN = 60;

const api = await testApi({ worker: true });
const { pool } = api.services.database;
const receiver = await webhookReceiver();

/**
 * Migrations that do to every table whatever a version may do: a column without and one with a default, an index, and a new table. Each
 * locks one table alone, as migrations under load should.
 */
const nextMigrations = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1",
  );
  expect(rows.length).toBeGreaterThan(TABLES_MIN);
  return [
    'CREATE TABLE "next_table" (id text PRIMARY KEY, project_id text REFERENCES project (id));',
    ...rows.map(
      ({ name }) =>
        `ALTER TABLE "${name}" ADD COLUMN next_text text, ADD COLUMN next_flag boolean NOT NULL DEFAULT false;
         CREATE INDEX "${name}_next" ON "${name}" (next_text) WHERE next_flag;`,
    ),
  ];
};

test("money is moved as before on the database of the next version, also over connections from before its migration", async () => {
  await mainJourney(api, receiver);
  const migrations = await nextMigrations();
  expect(migrations.flatMap(contractionsOf)).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "causeway-next-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [index, sql] of migrations.entries()) {
    const at = join(folder, `${NEXT}_${String(index)}`);
    mkdirSync(at);
    writeFileSync(join(at, "migration.sql"), sql);
  }
  const { databaseUrl } = api.services.config;
  expect(await migrateDeploy(databaseUrl, folder)).toHaveLength(migrations.length);

  // Statements that the connections have prepared were for fewer columns.
  await mainJourney(api, receiver);
  // A process of this version that starts now finds a migration that it does not know.
  expect(await migrateDeploy(databaseUrl, MIGRATIONS)).toEqual([]);
}, 300_000);
