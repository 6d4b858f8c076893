import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { distribute, DISTRIBUTED_TABLES } from "./distribute";

const MIGRATIONS = fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));
const { url, database } = await testDatabase({ role: "owner" });

test("a second run changes nothing, and says where each table lies", async () => {
  const { changed, placements } = await distribute(url, MIGRATIONS);
  expect(changed).toBe(false);
  const tablesOf = (type: string) =>
    placements.filter((each) => each.type === type).map(({ table }) => table);
  expect(tablesOf("distributed")).toEqual([...DISTRIBUTED_TABLES].sort());
});

test("every unique key of a distributed table begins with the project, and no trigger is left", async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE i.indrelid = ANY($1::regclass[]) AND i.indisunique AND NOT EXISTS (
       SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0] AND a.attname = 'project_id')
     UNION ALL
     SELECT tgname FROM pg_trigger WHERE tgrelid = ANY($1::regclass[]) AND NOT tgisinternal AND tgname NOT LIKE 'truncate_trigger_%'`,
    [[...DISTRIBUTED_TABLES]],
  );
  expect(rows).toEqual([]);
});

test("a cluster that the version before distributed is brought up to date by a further run, with its rows", async () => {
  const later = ["event", "event_counter", "webhook_delivery", "webhook_attempt"];
  const { url: before } = await testDatabase({ role: "owner" });
  const client = new pg.Client({ connectionString: before });
  await client.connect();
  try {
    await client.query("INSERT INTO event_counter VALUES ('prj_a', 3), ('prj_b', 4)");
    for (const table of later)
      await client.query("SELECT undistribute_table($1::regclass)", [table]);
    const { changed, placements } = await distribute(before, MIGRATIONS);
    expect(changed).toBe(true);
    expect(
      placements.filter(({ type }) => type === "distributed").map(({ table }) => table),
    ).toEqual([...DISTRIBUTED_TABLES].sort());
    const { rows } = await client.query(
      "SELECT project_id, last_sequence::int FROM event_counter ORDER BY 1",
    );
    expect(rows).toEqual([
      { project_id: "prj_a", last_sequence: 3 },
      { project_id: "prj_b", last_sequence: 4 },
    ]);
    const groups =
      "SELECT DISTINCT colocation_id FROM citus_tables WHERE table_name::text = ANY($1::text[])";
    expect((await client.query(groups, [[...DISTRIBUTED_TABLES]])).rows).toHaveLength(1);
    expect((await distribute(before, MIGRATIONS)).changed).toBe(false);
  } finally {
    await client.end();
  }
});
