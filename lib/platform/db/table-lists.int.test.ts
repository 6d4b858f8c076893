import { expect, test } from "vitest";
import pg from "pg";
import { afterFile } from "@/lib/dev/testing/after-file";
import { emptyDatabase } from "@/lib/dev/testing/database";
import { sql, type Statement } from "./statement";
import { int, table, text } from "./table";

// How PostgreSQL plans statements with the list of a table. A connection caches the plan of a
// statement that runs often, and this plan knows no parameter.

const { url } = await emptyDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
afterFile(() => client.end());
await client.query("SET plan_cache_mode = force_generic_plan");

const versions = table({ id: text, version: int });
const one = { id: "row 7", version: 1 };

/** The plan that PostgreSQL caches for the statement. */
const planOf = async (statement: Statement): Promise<string> => {
  await client.query(`PREPARE planned AS ${statement.text}`);
  const literals = statement.values.map((value) => client.escapeLiteral(String(value)));
  const { rows } = await client.query<{ "QUERY PLAN": string }>(
    `EXPLAIN EXECUTE planned (${literals.join(", ")})`,
  );
  await client.query("DEALLOCATE planned");
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
};

test("rows of a counted list are looked up by an index, in tables of two thousand rows too", async () => {
  await client.query("CREATE TABLE looked_up (id text PRIMARY KEY, version int, filler text)");
  await client.query(
    "INSERT INTO looked_up SELECT 'row ' || n, 1, repeat('x', 400) FROM generate_series(1, 2000) n",
  );
  await client.query("ANALYZE looked_up");
  const join = (list: Statement): Statement => sql`
    SELECT o.id FROM ${list} AS w
    JOIN looked_up o ON o.id = w.id
    WHERE o.version = w.version
    FOR NO KEY UPDATE OF o`;
  const plan = await planOf(join(versions.list([one], { isCounted: true })));
  expect(plan).toContain("Index Scan using looked_up_pkey");
  expect(plan).not.toContain("Seq Scan on looked_up");
  // Without `isCounted`, PostgreSQL scans the whole table. This is why the option exists.
  expect(await planOf(join(versions.list([one])))).toContain("Seq Scan on looked_up");
});

test("rows that are locked in their order are looked up by their key in a table without statistics, all of it one project's", async () => {
  await client.query(`CREATE TABLE locked_up (project text, id text, version int, filler text, PRIMARY KEY (project, id))
    WITH (autovacuum_enabled = off)`);
  await client.query("CREATE INDEX locked_up_by_project ON locked_up (project)");
  await client.query(
    "INSERT INTO locked_up SELECT 'mine', 'row ' || n, 1, repeat('x', 900) FROM generate_series(1, 300) n",
  );
  const ordered = versions.list([one], { isCounted: true, orderedBy: "id" });
  const lateral = await planOf(sql`
    SELECT found.id FROM ${ordered} AS w
    CROSS JOIN LATERAL (
      SELECT o.id FROM locked_up o
      WHERE o.project = ${"mine"} AND o.id = w.id AND o.version = w.version
      FOR NO KEY UPDATE
    ) AS found`);
  expect(lateral).toMatch(
    /Index Scan using locked_up_pkey on locked_up o .*\n\s+Index Cond: \(\(project = \$\d\) AND \(id = /,
  );
  // Without `orderedBy` and LATERAL, a join does not look rows up by id. This is why the option
  // exists.
  const joined = await planOf(sql`
    SELECT o.id FROM ${versions.list([one], { isCounted: true })} AS w
    JOIN locked_up o
      ON o.project = ${"mine"} AND o.id = w.id AND o.version = w.version
    FOR NO KEY UPDATE OF o`);
  expect(joined).not.toMatch(/Index Cond: .*id = /);
});
