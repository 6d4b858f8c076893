import { appendFileSync, cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { afterFile } from "@/lib/dev/testing/after-file";
import { ownPostgres } from "@/lib/dev/testing/own-postgres";
import { startEmbeddedPostgres } from "./embedded-postgres";
import { DATA, MANIFEST } from "./backup";
import { restoreBackup } from "./restore";

const postgres = await ownPostgres();
const DATABASE = "causeway";

const ask = async <Row extends object>(url: string, sql: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row & pg.QueryResultRow>(sql)).rows;
  } finally {
    await client.end();
  }
};
const TIMELINE = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) AS timeline";

test("a backup that was made under load has everything that was committed before its end was asked for, and signs nothing once restored", async () => {
  await postgres.observe("CREATE TABLE kept (id int PRIMARY KEY, filler text)");
  const load = { isOver: false, committed: 0 };
  const client = new pg.Client({ connectionString: postgres.ownerUrl });
  await client.connect();
  afterFile(() => client.end());
  const running = (async () => {
    while (!load.isOver) {
      await client.query("INSERT INTO kept VALUES ($1, repeat('x', 2000))", [
        load.committed + 1,
      ]);
      load.committed += 1;
    }
  })();
  const backup = await postgres.backUp();
  const before = load.committed;
  load.isOver = true;
  await running;
  expect(before).toBeGreaterThan(0);

  // Neither this folder nor its parent exists.
  const dataDir = postgres.elsewhere("restored/postgres");
  await restoreBackup({ from: backup, dataDir, database: DATABASE });
  const restored = await startEmbeddedPostgres({ dataDir });
  afterFile(async () => {
    await restored.stop();
  });
  const url = restored.url(DATABASE);
  const [kept] = await ask<{ count: number; last: number }>(
    url,
    "SELECT count(*)::int, max(id) AS last FROM kept",
  );
  // The rows have no gap, and end with one that was committed while the backup was made.
  expect(kept?.count).toBe(kept?.last);
  expect(kept?.count).toBeGreaterThan(0);
  expect(kept?.count).toBeLessThanOrEqual(load.committed);
  // No instance had checked before the backup, so the row is new.
  const [state] = await ask<{ reason: string }>(
    url,
    "SELECT off_reason AS reason FROM signing_state",
  );
  expect(state?.reason).toContain("restored from the backup of");
  expect(await ask(url, TIMELINE)).not.toEqual(await postgres.observe(TIMELINE));

  await expect(restoreBackup({ from: backup, dataDir, database: DATABASE })).rejects.toThrow(
    "is there already",
  );
}, 120_000);

test("a backup that is damaged, or was not completed, is not restored, and nothing is changed", async () => {
  const backup = await postgres.backUp();
  const damaged = postgres.elsewhere("damaged");
  const restore = () =>
    restoreBackup({ from: damaged, dataDir: postgres.elsewhere("never"), database: DATABASE });
  cpSync(backup, damaged, { recursive: true });
  appendFileSync(join(damaged, DATA, "PG_VERSION"), "x");
  await expect(restore()).rejects.toThrow("PG_VERSION was changed");
  rmSync(join(damaged, DATA, "PG_VERSION"));
  await expect(restore()).rejects.toThrow("PG_VERSION is missing");
  rmSync(join(damaged, MANIFEST));
  await expect(restore()).rejects.toThrow("holds no complete backup");
}, 120_000);
