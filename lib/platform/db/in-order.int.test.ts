import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { inOrder } from "./in-order";
import { keptSqlOn, type Sql, sqlOf } from "./sql";

const { database } = await testDatabase({ role: "owner" });
await database.pool.query(
  "CREATE TABLE in_order_test (name text PRIMARY KEY, amount int NOT NULL)",
);

const insert = async (sql: Sql, name: string, amount: number): Promise<string> => {
  await sql.change("INSERT INTO in_order_test VALUES ($1, $2::int)", [name, amount]);
  return name;
};
const add = async (sql: Sql, name: string): Promise<void> => {
  await sql.change("UPDATE in_order_test SET amount = amount + 1 WHERE name = $1", [name]);
};
const sum = async (sql: Sql): Promise<number | undefined> => {
  const text = "SELECT sum(amount)::int AS sum FROM in_order_test";
  return (await sql.query<{ sum: number }>(text, []))[0]?.sum;
};
const stored = async (): Promise<unknown[]> =>
  (await database.pool.query<object>("SELECT name, amount FROM in_order_test ORDER BY name"))
    .rows;

const transactions: Readonly<
  Record<string, <T>(work: (sql: Sql) => Promise<T>) => Promise<T>>
> = {
  "the raw pool": (work) => database.rawTransaction(work, keptSqlOn),
  Prisma: (work) => database.transaction((tx) => work(sqlOf(tx))),
};

test.each(Object.entries(transactions))(
  "each step sees what those before it have changed, and its result has its place, in a transaction of %s",
  async (_, transaction) => {
    await database.pool.query("TRUNCATE in_order_test");
    const results = await transaction((sql) =>
      inOrder(sql, [
        () => insert(sql, "a", 1),
        () => sum(sql),
        () => inOrder(sql, [() => insert(sql, "b", 2), () => insert(sql, "c", 4)]),
        () => sum(sql),
      ]),
    );
    expect(results).toEqual(["a", 1, ["b", "c"], 7]);
    expect(await stored()).toHaveLength(3);
  },
);

test.each(Object.entries(transactions))(
  "a step that refuses undoes those before and after it, in a transaction of %s",
  async (_, transaction) => {
    await database.pool.query("TRUNCATE in_order_test");
    const refusal = new Error("Too much.");
    const refuse = async (sql: Sql): Promise<void> => {
      if (((await sum(sql)) ?? 0) > 0) throw refusal;
    };
    const run = (sql: Sql) =>
      inOrder(sql, [() => insert(sql, "a", 1), () => refuse(sql), () => insert(sql, "b", 1)]);
    await expect(transaction(run)).rejects.toBe(refusal);
    expect(await stored()).toEqual([]);
  },
);

test.each(Object.entries(transactions))(
  "the error is that of the first step that failed, also where it threw before it sent anything, in a transaction of %s",
  async (_, transaction) => {
    await database.pool.query("TRUNCATE in_order_test");
    await database.pool.query("INSERT INTO in_order_test VALUES ('a', 0)");
    // After a failed statement PostgreSQL refuses all further ones of the transaction (25P02).
    const twice = (sql: Sql) =>
      inOrder(sql, [() => insert(sql, "a", 1), () => insert(sql, "b", 1), () => sum(sql)]);
    await expect(transaction(twice)).rejects.toThrow(/duplicate key|Unique constraint/);
    const early = (sql: Sql) =>
      inOrder(sql, [
        () => insert(sql, "b", 1),
        (): Promise<void> => {
          throw new Error("Not asked.");
        },
        () => insert(sql, "c", 1),
      ]);
    await expect(transaction(early)).rejects.toThrow("Not asked.");
    expect(await stored()).toEqual([{ name: "a", amount: 0 }]);
  },
);

test("steps that wait for locks take them in their order", async () => {
  await database.pool.query("TRUNCATE in_order_test");
  await database.pool.query("INSERT INTO in_order_test VALUES ('a', 0), ('b', 0)");
  const piped = (): Promise<unknown> =>
    database.rawTransaction((sql) => inOrder(sql, [() => add(sql, "b"), () => add(sql, "a")]));
  const awaited = (): Promise<void> =>
    database.rawTransaction(async (sql) => {
      await add(sql, "b");
      await add(sql, "a");
    });
  // In different orders they would deadlock, and PostgreSQL would end one of them.
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? piped() : awaited())),
  );
  expect(await stored()).toEqual([
    { name: "a", amount: 40 },
    { name: "b", amount: 40 },
  ]);
});

test("on a connection with a pipeline a later step sees what was committed while an earlier one waited for a lock", async () => {
  await database.pool.query("TRUNCATE in_order_test");
  await database.pool.query("INSERT INTO in_order_test VALUES ('a', 0)");
  const lock = (sql: Sql) =>
    sql.query("SELECT 1 FROM in_order_test WHERE name = 'a' FOR UPDATE", []);
  const other = await database.pool.connect();
  try {
    await other.query("BEGIN");
    await other.query("UPDATE in_order_test SET amount = 7 WHERE name = 'a'");
    const running = database.rawTransaction(
      (sql) => inOrder(sql, [() => lock(sql), () => sum(sql)]),
      keptSqlOn,
    );
    await expect
      .poll(async () => {
        const { rows } = await database.pool.query<{ count: number }>(`
          SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return rows[0]?.count;
      })
      .toBe(1);
    await other.query("COMMIT");
    expect((await running)[1]).toBe(7);
  } finally {
    // A transaction that a failure left open ends with its connection.
    other.release(true);
  }
});
