import type pg from "pg";
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createLedgerRepository } from "@/lib/books/ledger/repository";
import { testDatabase } from "@/lib/dev/testing/database";
import { startPgProxy } from "@/lib/dev/testing/pg-proxy";
import { createDatabase } from "./client";
import { createListener } from "./listener";
import { createPool } from "./pool";
import type { PipelinedReader } from "./sql";

const { url, database } = await testDatabase({ role: "owner" });
await database.pool.query("CREATE TABLE note (word text PRIMARY KEY)");
beforeEach(async () => {
  await database.pool.query("TRUNCATE note");
});

const words = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ word: string }>(
    "SELECT word FROM note ORDER BY word",
  );
  return rows.map(({ word }) => word);
};

const add = "INSERT INTO note VALUES ($1)";

/** At which statement, and when, connections are cut. */
let cut: { readonly stage: "before" | "after"; readonly sql: string } | null = null;
const proxy = await startPgProxy(url, {
  watch: (stage, { sql }) =>
    cut !== null && stage === cut.stage && sql.startsWith(cut.sql) ? "cut" : "go",
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
  ] as const)(
    "whose connection ends %s fails, and the next one gets another connection",
    async (_, where, stored) => {
      cut = where;
      await expect(fragile.rawTransaction((sql) => sql.change(add, ["one"]))).rejects.toThrow(
        /connection/i,
      );
      cut = null;
      expect(await words()).toEqual(stored);
      await fragile.rawTransaction((sql) => sql.change(add, ["two"]));
      expect(await words()).toEqual([...stored, "two"]);
    },
  );
});

/**
 * Starts statements of which the first waits for this advisory lock. While it waits and the
 * following statements are sent already, the word "one" is stored and the lock released.
 */
const besideWriter = async <T>(lock: number, begin: () => Promise<T>): Promise<T> => {
  const writer = await database.pool.connect();
  // A transaction that a failure left open ends with its connection.
  onTestFinished(() => writer.release(true));
  await writer.query("BEGIN");
  await writer.query("SELECT pg_advisory_xact_lock($1)", [lock]);
  const done = begin();
  const isWaiting = async (): Promise<boolean> =>
    (
      await database.pool.query(
        "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      )
    ).rowCount === 1;
  await vi.waitFor(async () => expect(await isWaiting()).toBe(true), 20_000);
  await writer.query(add, ["one"]);
  await writer.query("COMMIT");
  return done;
};

describe("a raw transaction of statements that are given at once", () => {
  test("runs them in their order, each on what was committed when it began", async () => {
    const begin = () =>
      database.rawTransaction(async (sql) => {
        const [locked, added, seen] = sql.together(() => [
          sql.query<{ pid: number }>(
            "SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock(7)",
            [],
          ),
          sql.change(add, ["two"]),
          sql.query<{ word: string }>("SELECT word FROM note ORDER BY word", []),
        ]);
        await Promise.all([locked, added]);
        return (await seen).map(({ word }) => word);
      });
    expect(await besideWriter(7, begin)).toEqual(["one", "two"]);
  });

  test("stores nothing where one of them fails, and says which", async () => {
    await database.pool.query(add, ["one"]);
    const failing = database.rawTransaction((sql) =>
      sql.together(() =>
        Promise.all(["zero", "one", "two"].map((word) => sql.change(add, [word]))),
      ),
    );
    await expect(failing).rejects.toMatchObject({
      code: "23505",
      detail: expect.stringContaining("one") as string,
    });
    expect(await words()).toEqual(["one"]);
    await database.rawTransaction((sql) => sql.change(add, ["three"]));
    expect(await words()).toEqual(["one", "three"]);
  });

  test("fails where a failed statement was overlooked, because nothing of it is stored", async () => {
    const overlooking = database.rawTransaction(async (sql) => {
      await sql.change(add, ["one"]);
      await sql.change(add, ["one"]).catch(() => 0);
      return "stored";
    });
    await expect(overlooking).rejects.toThrow("rolled back");
    expect(await words()).toEqual([]);
  });

  test("fails where its connection ends on their way, and the next one gets another connection", async () => {
    cut = { stage: "after", sql: "INSERT" };
    const failing = fragile.rawTransaction((sql) =>
      sql.together(() => Promise.all(["one", "two"].map((word) => sql.change(add, [word])))),
    );
    await expect(failing).rejects.toThrow(/connection/i);
    cut = null;
    await fragile.rawTransaction((sql) => sql.change(add, ["three"]));
    expect(await words()).toEqual(["three"]);
  });
});

describe("reads that are given at once", () => {
  test("run in their order on one connection, each on what was committed when it began", async () => {
    const begin = () =>
      database.reading((sql) =>
        sql.together(() =>
          Promise.all([
            sql.query<{ pid: number }>(
              "SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock(8)",
              [],
            ),
            sql.query<{ pid: number; words: number }>(
              "SELECT pg_backend_pid() AS pid, (SELECT count(*)::int FROM note) AS words",
              [],
            ),
          ]),
        ),
      );
    const [[first], [second]] = await besideWriter(8, begin);
    expect(second).toEqual({ pid: first?.pid, words: 1 });
  });

  test("one that fails spoils none of the others, and its connection serves nobody afterwards", async () => {
    const pidOf = "SELECT pg_backend_pid() AS pid";
    let pid = 0;
    const [failed, read] = await fragile.reading((sql) =>
      sql.together(() =>
        Promise.allSettled([
          sql.query("SELECT 1 / 0", []),
          sql.query<{ pid: number }>(pidOf, []),
        ]),
      ),
    );
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "22012" } });
    if (read.status === "fulfilled") pid = read.value[0]?.pid ?? 0;
    expect(pid).toBeGreaterThan(0);
    const [next] = await fragile.reading((sql) => sql.query<{ pid: number }>(pidOf, []));
    expect(next?.pid).not.toBe(pid);
  });

  test("end with the work: a connection is given back when all answers are there, and takes no statement afterwards", async () => {
    let late: PipelinedReader | null = null;
    const done = fragile.reading((sql) => {
      late = sql;
      void sql.query("SELECT pg_sleep(0.2)", []);
      return Promise.reject(new Error("not found"));
    });
    await expect(done).rejects.toThrow("not found");
    expect(fragile.pool.idleCount).toBe(fragile.pool.totalCount);
    const active =
      "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'";
    expect((await database.pool.query(active)).rowCount).toBe(0);
    const after = late as PipelinedReader | null;
    await expect(after?.query("SELECT 1", [])).rejects.toThrow("over");
  });

  test("fail where their connection ends on their way, and the next ones get another connection", async () => {
    cut = { stage: "after", sql: "SELECT" };
    const failing = fragile.reading((sql) =>
      sql.together(() =>
        Promise.all([sql.query("SELECT 1 AS n", []), sql.query("SELECT 2 AS n", [])]),
      ),
    );
    await expect(failing).rejects.toThrow(/connection/i);
    cut = null;
    expect(await fragile.reading((sql) => sql.query("SELECT 3 AS n", []))).toEqual([{ n: 3 }]);
  });
});

describe("every connection has its limits from the start", () => {
  const LIMITS = {
    idle_in_transaction_session_timeout: "8s",
    lock_timeout: "12s",
    statement_timeout: "20s",
    tcp_keepalives_idle: "10",
    tcp_user_timeout: "10000",
    jit: "off",
  };
  const SHOW = `SELECT name, current_setting(name) AS value FROM pg_settings WHERE name = ANY ('{${Object.keys(LIMITS).join()}}')`;
  type Rows = readonly { readonly name: string; readonly value: string }[];
  const named = (rows: Rows) =>
    Object.fromEntries(rows.map(({ name, value }) => [name, value]));

  test("Prisma's, inside its transactions as well", async () => {
    expect(named(await database.prisma.$queryRawUnsafe<Rows>(SHOW))).toEqual(LIMITS);
    expect(named(await database.transaction((tx) => tx.$queryRawUnsafe<Rows>(SHOW)))).toEqual(
      LIMITS,
    );
  });

  test("the raw ones, and the ledger's", async () => {
    expect(named((await database.pool.query<Rows[number]>(SHOW)).rows)).toEqual(LIMITS);
    expect(
      named(await database.rawTransaction((sql) => sql.query<Rows[number]>(SHOW, []))),
    ).toEqual(LIMITS);
    const ledger = createLedgerRepository(url, { poolSize: 1 });
    expect(named(await ledger.query<Rows[number]>(SHOW, []))).toEqual(LIMITS);
    await ledger.close();
  });

  test("the listener's, which is named as one of the service's", async () => {
    const listener = createListener(url);
    listener.on("note", () => undefined);
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'causeway' AND query = 'LISTEN note'",
      );
      expect(rows).toHaveLength(1);
    }, 10_000);
    await listener.close();
  });

  test("what the operator's URL sets wins, and the rest stays", async () => {
    const own = new URL(url);
    own.searchParams.set("options", "-c lock_timeout=3s");
    const other = createDatabase(own.toString(), { poolSize: 1 });
    expect(named(await other.prisma.$queryRawUnsafe<Rows>(SHOW))).toEqual({
      ...LIMITS,
      lock_timeout: "3s",
    });
    await other.close();
  });
});

test("a connection on which a query was given up is not used again", async () => {
  const own = createPool(url, { max: 1 });
  const client = await own.connect();
  const pid = async (using: pg.ClientBase): Promise<number> =>
    (await using.query<{ pid: number }>("SELECT pg_backend_pid() AS pid")).rows[0]?.pid ?? 0;
  const before = await pid(client);
  const slow = { text: "SELECT pg_sleep(5)", query_timeout: 50 } satisfies pg.QueryConfig & {
    query_timeout: number;
  };
  await expect(client.query(slow)).rejects.toThrow("Query read timeout");
  await vi.waitFor(() => expect(client.query("SELECT 1")).rejects.toThrow(), 10_000);
  client.release();
  const next = await own.connect();
  expect(await pid(next)).not.toBe(before);
  next.release();
  await own.end();
});
