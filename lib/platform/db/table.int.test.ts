import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { asOwner, testDatabase } from "@/lib/dev/testing/database";
import { createDatabase } from "./client";
import { sqlOf, sqlOn, type Sql } from "./sql";
import { join, raw, sql, type Statement } from "./statement";
import {
  address,
  base,
  bool,
  count,
  int,
  int8,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
} from "./table";

const samples = table({
  sampleId: text,
  rowNumber: int,
  isHeld: bool,
  createdAt: time,
  amountBase: base,
  blockNumber: int8,
  seen: count,
  sender: nullable(address),
  state: oneOf(z.enum(["open", "ended"])),
  failure: nullable(json(z.object({ code: z.string(), detail: z.string() }))),
});

const HARD = `quotes ' " and $1, a \\ and a new\nline`;
const sample: RowOf<typeof samples> = {
  sampleId: HARD,
  rowNumber: -1,
  isHeld: false,
  createdAt: new Date("2026-11-30T06:00:00.123Z"),
  amountBase: 2n ** 255n,
  blockNumber: 2n ** 63n - 1n,
  seen: 2 ** 53,
  sender: "0x00000000000000000000000000000000000000aA",
  state: "ended",
  failure: { code: "x", detail: HARD },
};
const bare = { ...sample, sampleId: "bare", sender: null, failure: null };

const { database, url } = await testDatabase();
const { prisma, pool } = database;
const drivers: readonly [string, Sql][] = [
  ["Prisma", sqlOf(prisma)],
  ["pg", sqlOn(pool)],
];

test.each(drivers)("a row is read as it was written: %s", async (_, db) => {
  const rows = [sample, bare];
  const read = await samples.all(
    db,
    sql`
      SELECT ${samples.columns("s")} FROM ${samples.list(rows)} AS s
      WHERE s.amount_base = ${sample.amountBase}::numeric AND s.created_at = ${sample.createdAt}::timestamptz
      ORDER BY s.sample_id = ${HARD} DESC`,
  );
  expect(read).toEqual(rows);
});

test.each(drivers)(
  "an array and a list of conditions are parameters too: %s",
  async (_, db) => {
    const places = samples.pick("sampleId", "rowNumber");
    const conditions = [
      sql`s.sample_id = ANY(${["bare", "none"]}::text[])`,
      sql`s.row_number < ${0}::int`,
    ];
    const statement = sql`
    SELECT ${places.columns("s")} FROM ${places.list([sample, bare])} AS s
    WHERE ${join(conditions, " AND ")}`;
    expect(statement.values).toHaveLength(3);
    expect(await places.first(db, statement)).toEqual({ sampleId: "bare", rowNumber: -1 });
    expect(await places.first(db, sql`${statement} AND ${raw("false")}`)).toBeNull();
  },
);

test.each(drivers)(
  "the values of one row are parameters of their columns' types: %s",
  async (_, db) => {
    for (const row of [sample, bare]) {
      const read = await samples.first(
        db,
        sql`
        SELECT ${samples.columns("s")}
        FROM (VALUES (${samples.values(row)})) AS s (${samples.names})`,
      );
      expect(read).toEqual(row);
    }
  },
);

test.each(drivers)("rows of two tables are read from one row: %s", async (_, db) => {
  const places = samples.pick("sampleId", "amountBase");
  const former = places.under("former.");
  const [row = {}] = await db.query<object>(sql`
    SELECT ${places.columns("s")}, ${former.columns("f")}
    FROM ${places.list([sample])} AS s
    CROSS JOIN ${places.list([{ sampleId: "former", amountBase: 7n }])} AS f`);
  expect(places.read(row)).toEqual({ sampleId: HARD, amountBase: 2n ** 255n });
  expect(former.read(row)).toEqual({ sampleId: "former", amountBase: 7n });
});

test("a value that does not have its shape is refused, and its column is named", async () => {
  const states = samples.pick("state");
  const unread = states.all(sqlOn(pool), sql`SELECT 'gone' AS state`);
  await expect(unread).rejects.toThrow(/open/);
});

test.each(drivers)("a list is sorted by the bytes of a field: %s", async (_, db) => {
  const named = samples.pick("sampleId", "rowNumber");
  const rows = ["b", "a", "B", "ä"].map((sampleId, rowNumber) => ({ sampleId, rowNumber }));
  const read = await named.all(
    db,
    sql`
      SELECT ${named.columns("s")}
      FROM ${named.list(rows, { isCounted: true, orderedBy: "sampleId" })} AS s`,
  );
  expect(read.map(({ sampleId }) => sampleId)).toEqual(["B", "a", "b", "ä"]);
});

test("the planner knows the number of rows of a counted list, and all rows are read", async () => {
  const numbers = table({ n: int });
  const rows = Array.from({ length: 1234 }, (_, n) => ({ n }));
  const explain = async (listed: Statement): Promise<string> => {
    const { text: statement, values } = sql`EXPLAIN SELECT * FROM ${listed} AS listed`;
    const { rows: lines } = await pool.query<{ "QUERY PLAN": string }>(statement, [...values]);
    return lines[0]?.["QUERY PLAN"] ?? "";
  };
  const few = rows.slice(0, 2);
  expect(await explain(numbers.list(few))).toContain("rows=100 ");
  expect(await explain(numbers.list(few, { isCounted: true }))).toContain("rows=2 ");
  const counted = numbers.list(rows, { isCounted: true });
  expect(await numbers.all(sqlOn(pool), sql`SELECT n FROM ${counted} AS listed`)).toEqual(rows);
});

test("a time is the same on a server whose time zone is another one", async () => {
  const { pathname } = new URL(url);
  await asOwner(url, `ALTER DATABASE "${pathname.slice(1)}" SET timezone = 'Asia/Tokyo'`);
  const elsewhere = createDatabase(url);
  onTestFinished(() => elsewhere.close());
  const times = table({ createdAt: time });
  const { createdAt } = sample;
  const statement = sql`SELECT ${createdAt}::timestamptz AS "createdAt"`;
  for (const db of [sqlOf(elsewhere.prisma), sqlOn(elsewhere.pool)])
    expect(await times.first(db, statement)).toEqual({ createdAt });
});

test("half of a surrogate pair is stored as U+FFFD in a list, as in a parameter", async () => {
  const names = table({ sampleId: text });
  const half = "a\ud800b";
  const db = sqlOn(pool);
  const listed = sql`
    SELECT ${names.columns("s")} FROM ${names.list([{ sampleId: half }])} AS s`;
  const parameter = sql`SELECT ${half}::text AS "sampleId"`;
  expect(await names.first(db, listed)).toEqual({ sampleId: "a\ufffdb" });
  expect(await names.first(db, parameter)).toEqual(await names.first(db, listed));
});
