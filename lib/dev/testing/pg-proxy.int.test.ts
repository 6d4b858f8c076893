import pg from "pg";
import { afterAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "./database";
import type { Stage } from "./fault-proxy";
import { startPgProxy, type Statement } from "./pg-proxy";

const { url, database } = await testDatabase({ role: "owner" });
const seen: string[] = [];
let cut: { stage: Stage; sql: RegExp } | null = null;
const proxy = await startPgProxy(url, {
  watch: (stage: Stage, { sql }: Statement) => {
    seen.push(`${stage} ${sql}`);
    return cut?.stage === stage && cut.sql.test(sql) ? "cut" : "go";
  },
});
afterAll(() => proxy.close());

await database.pool.query("CREATE TABLE seen_by_proxy (id int PRIMARY KEY, word text)");

beforeEach(async () => {
  cut = null;
  await database.pool.query("TRUNCATE seen_by_proxy");
});

const withClient = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: proxy.url });
  // The error of a connection that the proxy cuts is expected.
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

const words = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ word: string }>(
    "SELECT word FROM seen_by_proxy ORDER BY id",
  );
  return rows.map(({ word }) => word);
};

const insertInTransaction = (client: pg.Client): Promise<unknown> =>
  client
    .query("BEGIN")
    .then(() => client.query("INSERT INTO seen_by_proxy VALUES ($1, $2)", [1, "one"]))
    .then(() => client.query("COMMIT"));

test("passes everything on, large answers and notifications too, and tells of each statement before and after", async () => {
  seen.length = 0;
  await withClient(async (client) => {
    const { rows } = await client.query<{ text: string }>(
      "SELECT repeat('x', 3000000) AS text",
    );
    expect(rows[0]?.text).toHaveLength(3_000_000);
    await insertInTransaction(client);
    const heard = new Promise((resolve) => client.once("notification", resolve));
    await client.query("LISTEN proxied");
    await database.pool.query("NOTIFY proxied, 'hello'");
    expect(await heard).toMatchObject({ payload: "hello" });
  });
  expect(await words()).toEqual(["one"]);
  const transaction = ["BEGIN", "INSERT INTO seen_by_proxy VALUES ($1, $2)", "COMMIT"];
  expect(seen.filter((each) => transaction.some((sql) => each.endsWith(sql)))).toEqual(
    transaction.flatMap((sql) => [`before ${sql}`, `after ${sql}`]),
  );
});

test.each([
  ["before the commit is passed on, nothing is kept", "before", /^COMMIT/, []],
  ["after the commit, what was committed stays", "after", /^COMMIT/, ["one"]],
  ["after a write inside a transaction, nothing is kept", "after", /^INSERT/, []],
] as const)("cut %s", async (_, stage, sql, kept) => {
  cut = { stage, sql };
  await withClient(async (client) => {
    await expect(insertInTransaction(client)).rejects.toThrow(/terminated/);
  });
  // The cut connection's lock is released; otherwise this statement would wait for it.
  await database.pool.query("BEGIN; LOCK TABLE seen_by_proxy; COMMIT");
  expect(await words()).toEqual(kept);
});
