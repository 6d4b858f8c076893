import { expect, test } from "vitest";
import pg from "pg";
import { afterFile } from "@/lib/dev/testing/after-file";
import { emptyDatabase } from "@/lib/dev/testing/database";
import { jsonRows } from "./json-rows";

const { url } = await emptyDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
afterFile(() => client.end());

/** The plan that PostgreSQL caches for a statement whose rows come from `source`. */
const planOf = async (name: string, source: string): Promise<string> => {
  await client.query(`PREPARE ${name} (text) AS
    SELECT o.id FROM ${source} AS w JOIN looked_up o ON o.id = w.id WHERE o.version = w.version FOR NO KEY UPDATE OF o`);
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `EXPLAIN EXECUTE ${name} ('[{"id": "row 7", "version": 1}]')`,
  );
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
};

test("rows of a JSON parameter are looked up by an index, in tables of two thousand rows too", async () => {
  await client.query("CREATE TABLE looked_up (id text PRIMARY KEY, version int, filler text)");
  await client.query(
    "INSERT INTO looked_up SELECT 'row ' || n, 1, repeat('x', 400) FROM generate_series(1, 2000) n",
  );
  await client.query("ANALYZE looked_up");
  await client.query("SET plan_cache_mode = force_generic_plan");
  const plan = await planOf("short", jsonRows("$1", "id text, version int"));
  expect(plan).toContain("Index Scan using looked_up_pkey");
  expect(plan).not.toContain("Seq Scan on looked_up");
  // Without the limit the plan is wrong; this is why it exists.
  const bare = "jsonb_to_recordset($1::jsonb)";
  await client.query(
    `PREPARE bare (text) AS SELECT o.id FROM ${bare} AS w (id text, version int) JOIN looked_up o ON o.id = w.id`,
  );
  const { rows } = await client.query<{ "QUERY PLAN": string }>("EXPLAIN EXECUTE bare ('[]')");
  expect(rows.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Seq Scan on looked_up");
});

test("rows that are locked in their order are looked up by their key in a table without statistics, all of it one project's", async () => {
  await client.query(`CREATE TABLE locked_up (project text, id text, version int, filler text, PRIMARY KEY (project, id))
    WITH (autovacuum_enabled = off)`);
  await client.query("CREATE INDEX locked_up_by_project ON locked_up (project)");
  await client.query(
    "INSERT INTO locked_up SELECT 'mine', 'row ' || n, 1, repeat('x', 900) FROM generate_series(1, 300) n",
  );
  const explain = async (text: string): Promise<string> => {
    await client.query(`PREPARE locks AS ${text}`);
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `EXPLAIN EXECUTE locks ('[]', 'mine')`,
    );
    await client.query("DEALLOCATE locks");
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };
  const same = "o.project = $2 AND o.id = w.id AND o.version = w.version";
  const lateral = await explain(
    `SELECT found.id FROM ${jsonRows("$1", "id text, version int", "id")} AS w
     CROSS JOIN LATERAL (SELECT o.id FROM locked_up o WHERE ${same} FOR NO KEY UPDATE) AS found`,
  );
  expect(lateral).toMatch(
    /Index Scan using locked_up_pkey on locked_up o .*\n\s+Index Cond: \(\(project = \$2\) AND \(id = /,
  );
  // Without LATERAL, a join does not look rows up by id; this is why it exists.
  const joined = await explain(
    `SELECT o.id FROM ${jsonRows("$1", "id text, version int")} AS w JOIN locked_up o ON ${same} FOR NO KEY UPDATE OF o`,
  );
  expect(joined).not.toMatch(/Index Cond: .*id = /);
});

test("rows come in the order of a column's bytes", async () => {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM ${jsonRows("$1", "id text", "id")} AS r`,
    [JSON.stringify(["b", "a", "B", "ä"].map((id) => ({ id })))],
  );
  expect(rows.map(({ id }) => id)).toEqual(["B", "a", "b", "ä"]);
});

test("all rows of the parameter are read, however many", async () => {
  const many = JSON.stringify(Array.from({ length: 1234 }, (_, n) => ({ n })));
  const { rows } = await client.query<{ count: number; sum: number }>(
    `SELECT count(*)::int AS count, sum(n)::int AS sum FROM ${jsonRows("$1", "n int")} AS r`,
    [many],
  );
  expect(rows).toEqual([{ count: 1234, sum: (1233 * 1234) / 2 }]);
});
