/** Migrations of a fictitious next version. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { afterFile } from "./after-file";
import type { TestApi } from "./api";
import { contractionsOf } from "./migration-rules";
import { ownerUrlOf } from "./owner-urls";

const MIGRATIONS = "prisma/migrations";
const NEXT = "29991231235959_next_version";
const TABLES_MIN = 60;

/**
 * Migrations with every allowed kind of change of every table: a column with and one without a
 * default, an index, and a new table. Each locks only one table, as migrations under load should.
 */
const nextMigrations = async ({ services }: TestApi): Promise<string[]> => {
  const { rows } = await services.database.pool.query<{ name: string }>(
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

/** Migrates the database of `api` to the next version, like the first process of that version. */
export const migrateToNextVersion = async (api: TestApi): Promise<void> => {
  const migrations = await nextMigrations(api);
  expect(migrations.flatMap(contractionsOf)).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "causeway-next-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [index, sql] of migrations.entries()) {
    const at = join(folder, `${NEXT}_${String(index)}`);
    mkdirSync(at);
    writeFileSync(join(at, "migration.sql"), sql);
  }
  const url = ownerUrlOf(api.services.config.databaseUrl);
  expect(await migrateDeploy(url, folder)).toHaveLength(migrations.length);
  // Migrates again as a process of this version that starts now. It finds unknown migrations, and
  // must not fail.
  expect(await migrateDeploy(url, MIGRATIONS)).toEqual([]);
};
