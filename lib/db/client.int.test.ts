import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { testDatabase } from "@/lib/testing/database";
import { startPgProxy } from "@/lib/testing/pg-proxy";
import { createDatabase } from "./client";

const { url, database } = await testDatabase();
await database.pool.query("CREATE TABLE note (word text PRIMARY KEY)");
beforeEach(async () => {
  await database.pool.query("TRUNCATE note");
});

const words = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ word: string }>("SELECT word FROM note ORDER BY word");
  return rows.map(({ word }) => word);
};

const add = "INSERT INTO note VALUES ($1)";

/** Where connections are cut. */
let cut: { readonly stage: "before" | "after"; readonly sql: string } | null = null;
const proxy = await startPgProxy(url, {
  watch: (stage, { sql }) => (cut !== null && stage === cut.stage && sql.startsWith(cut.sql) ? "cut" : "go"),
});
afterAll(() => proxy.close());
const fragile = createDatabase(proxy.url, { poolSize: 1 });
afterAll(() => fragile.close());

describe("a raw transaction", () => {
  test("is all or nothing, and fails with what its work failed with", async () => {
    const done = await fragile.rawTransaction(async (sql) => {
      expect(await sql.change(add, ["one"])).toBe(1);
      return sql.query<{ word: string }>("SELECT word FROM note", []);
    });
    expect(done).toEqual([{ word: "one" }]);
    const failing = fragile.rawTransaction(async (sql) => {
      await sql.change(add, ["two"]);
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    const refused = fragile.rawTransaction(async (sql) => {
      await sql.change(add, ["three"]);
      await sql.change(add, ["one"]);
    });
    await expect(refused).rejects.toMatchObject({ code: "23505" });
    expect(await words()).toEqual(["one"]);
  });

  test.each([
    ["in its work", { stage: "after", sql: "INSERT" }, []],
    ["before its commit", { stage: "before", sql: "COMMIT" }, []],
    ["after its commit, before the answer", { stage: "after", sql: "COMMIT" }, ["one"]],
  ] as const)("whose connection ends %s fails, and the next one gets another connection", async (_, where, stored) => {
    cut = where;
    await expect(fragile.rawTransaction((sql) => sql.change(add, ["one"]))).rejects.toThrow(/connection/i);
    cut = null;
    expect(await words()).toEqual(stored);
    await fragile.rawTransaction((sql) => sql.change(add, ["two"]));
    expect(await words()).toEqual([...stored, "two"]);
  });
});
