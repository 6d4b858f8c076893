import { afterAll, expect, test } from "vitest";
import { announce, type Announcement } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { createLedgerRepository } from "./repository";

const { url, database } = await testDatabase({ role: "owner" });
await database.pool.query("CREATE TABLE note (word text PRIMARY KEY)");
const told: Announcement[] = [];
const repository = createLedgerRepository(url, {
  poolSize: 1,
  onAnnounced: (each) => told.push(...each),
});
afterAll(() => repository.close());

const NEWS: Announcement = { channel: "news", payload: "one" };

test("what the app's part of a transaction announces is told after its commit, and nothing where it is rolled back", async () => {
  await repository.inTransaction(async (tx) => {
    await tx.asApp(async (sql) => {
      announce(sql, NEWS);
      await sql.change("INSERT INTO note VALUES ('one')", []);
    });
    expect(told).toEqual([]);
  });
  expect(told.splice(0)).toEqual([NEWS]);
  const rolledBack = repository.inTransaction(async (tx) => {
    await tx.asApp(async (sql) => {
      announce(sql, NEWS);
      await sql.change("INSERT INTO note VALUES ('two')", []);
    });
    throw new Error("rolled back");
  });
  await expect(rolledBack).rejects.toThrow("rolled back");
  const failing = repository.inTransaction((tx) =>
    tx.asApp(async (sql) => {
      announce(sql, NEWS);
      await sql.change("INSERT INTO note VALUES ('one')", []);
    }),
  );
  await expect(failing).rejects.toThrow();
  expect(told).toEqual([]);
  expect((await database.pool.query("SELECT word FROM note")).rows).toEqual([{ word: "one" }]);
});
