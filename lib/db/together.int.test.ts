import { expect, test, vi } from "vitest";
import { testDatabase } from "@/lib/testing/database";
import { keptSqlOn, sqlOf, type Sql } from "./sql";
import { changeAllOrNothing, changeAndJudge, type JudgedPart, type StatementPart } from "./together";

const { database } = await testDatabase();
await database.pool.query("CREATE TABLE together_test (name text PRIMARY KEY, amount int NOT NULL)");

const insert = (name: string, amount: number): StatementPart => ({
  text: "INSERT INTO together_test (name, amount) VALUES ($1, $2::int) RETURNING name, amount",
  values: [name, amount],
});
const judged = (part: StatementPart, judge: JudgedPart["judge"]): JudgedPart => ({ ...part, judge });
const stored = async (): Promise<unknown[]> =>
  (await database.pool.query<object>("SELECT name, amount FROM together_test ORDER BY name")).rows;

test("parts run as one statement with their own parameters, and each judgement gets the rows of its part in order", async () => {
  await database.pool.query("TRUNCATE together_test");
  const seen: unknown[] = [];
  const see: JudgedPart["judge"] = (rows) => {
    seen.push(rows);
  };
  const parts = [
    judged({ ...insert("first", 1), name: "first_part" }, see),
    insert("unseen", 2),
    judged({ text: "SELECT amount + $1::int AS amount FROM first_part", values: [10] }, see),
    judged({ text: "SELECT name FROM together_test", values: [] }, see),
  ];
  await database.rawTransaction((sql) => changeAndJudge(sql, parts), keptSqlOn);
  // All parts see the state before the statement.
  expect(seen).toEqual([[{ name: "first", amount: 1 }], [{ amount: 11 }], []]);
  expect(await stored()).toEqual([
    { name: "first", amount: 1 },
    { name: "unseen", amount: 2 },
  ]);
});

const transactions: Readonly<Record<string, (work: (sql: Sql) => Promise<void>) => Promise<void>>> = {
  "the raw pool": (work) => database.rawTransaction(work, keptSqlOn),
  Prisma: (work) => database.transaction((tx) => work(sqlOf(tx))),
};

test.each(Object.entries(transactions))(
  "a judgement that throws undoes all parts, in a transaction of %s",
  async (_, transaction) => {
    await database.pool.query("TRUNCATE together_test");
    const refusal = new Error("Too much.");
    const refuse: JudgedPart["judge"] = () => {
      throw refusal;
    };
    const parts = [insert("unseen", 1), judged(insert("seen", 2), refuse)];
    await expect(transaction((sql) => changeAndJudge(sql, parts))).rejects.toBe(refusal);
    expect(await stored()).toEqual([]);
  },
);

test("parts that wait for locks take them in their order", async () => {
  await database.pool.query("TRUNCATE together_test");
  await database.pool.query("INSERT INTO together_test VALUES ('a', 0), ('b', 0)");
  const add = (name: string): JudgedPart =>
    judged(
      { text: "UPDATE together_test SET amount = amount + 1 WHERE name = $1 RETURNING name", values: [name] },
      () => undefined,
    );
  const inOneStatement = (): Promise<void> =>
    database.rawTransaction((sql) => changeAndJudge(sql, [add("b"), add("a")]));
  const inTwo = (): Promise<void> =>
    database.rawTransaction(async (sql) => {
      await changeAndJudge(sql, [add("b")]);
      await changeAndJudge(sql, [add("a")]);
    });
  // In different orders, they would wait for each other, and PostgreSQL would end one of them.
  await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? inOneStatement() : inTwo())));
  expect(await stored()).toEqual([
    { name: "a", amount: 40 },
    { name: "b", amount: 40 },
  ]);
});

test("a statement of its own changes everything, or nothing when a part returns another number of rows than it must", async () => {
  await database.pool.query("TRUNCATE together_test");
  await database.pool.query("INSERT INTO together_test VALUES ('a', 0)");
  const seen: number[] = [];
  const raise = (name: string): JudgedPart => ({
    text: "UPDATE together_test SET amount = amount + 1 WHERE name = $1 RETURNING name",
    values: [name],
    rowsExactly: 1,
    judge: (rows) => void seen.push(rows.length),
  });
  const run = (parts: readonly StatementPart[]): Promise<boolean> =>
    database.rawStatement((sql) => changeAllOrNothing(sql, parts));
  expect(await run([raise("a"), insert("b", 1)])).toBe(true);
  expect(await run([raise("a"), raise("missing"), insert("c", 1)])).toBe(false);
  expect(seen).toEqual([1]);
  expect(await stored()).toEqual([
    { name: "a", amount: 1 },
    { name: "b", amount: 1 },
  ]);
});

test("a row that another transaction changes while the statement waits for it counts as it was changed to", async () => {
  await database.pool.query("TRUNCATE together_test");
  await database.pool.query("INSERT INTO together_test VALUES ('a', 0)");
  const lock: JudgedPart = {
    text: "SELECT name FROM together_test WHERE name = 'a' AND amount = 0 FOR UPDATE",
    ...{ values: [], rowsExactly: 1, judge: () => undefined },
  };
  const other = await database.pool.connect();
  try {
    await other.query("BEGIN");
    await other.query("UPDATE together_test SET amount = 7 WHERE name = 'a'");
    const running = database.rawStatement((sql) => changeAllOrNothing(sql, [lock, insert("b", 1)]));
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query<{ count: number }>(`
        SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(rows[0]?.count).toBe(1);
    });
    await other.query("COMMIT");
    expect(await running).toBe(false);
  } finally {
    other.release();
  }
  expect(await stored()).toEqual([{ name: "a", amount: 7 }]);
});
