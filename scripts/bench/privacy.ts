/**
 * `npm run bench privacy [scan] [operations] [stack]`: measures the costs of private balances, and
 * prints a table with the goals. A benchmark, not a test.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDatabase } from "../../lib/platform/db/client";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { benchOperations, benchScan, type Note } from "./privacy-engine";
import { benchStack } from "./privacy-stack";

const DATABASE = "bench_privacy";
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

const rows: { figure: string; value: string; goal: string }[] = [];
const note: Note = (figure, value, goal = "") => {
  rows.push({ figure, value, goal: goal === "" ? "" : `at most ${goal}` });
};

const withDatabase = async (work: (url: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "bench-privacy-"));
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "postgres"),
    durability: "none",
  });
  try {
    await postgres.ensureDatabase(DATABASE);
    await migrateDeploy(postgres.url(DATABASE), MIGRATIONS);
    await work(postgres.url(DATABASE));
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

const benches: Readonly<Record<string, () => Promise<void>>> = {
  scan: () =>
    withDatabase(async (url) => {
      const database = createDatabase(url);
      await benchScan(database, note);
      await database.close();
    }),
  operations: () => benchOperations(note),
  stack: () => benchStack(note),
};

export const run = async (wanted: readonly string[]): Promise<void> => {
  for (const [name, bench] of Object.entries(benches))
    if (wanted.length === 0 || wanted.includes(name)) await bench();
  console.table(rows);
};
