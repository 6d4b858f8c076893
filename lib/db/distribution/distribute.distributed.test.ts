import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testDatabase } from "@/lib/testing/database";
import { distribute } from "./distribute";
import { DISTRIBUTED_TABLES } from "./tables";

const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));
const { url, database } = await testDatabase();

test("a second run changes nothing, and says where each table lies", async () => {
  const { changed, placements } = await distribute(url, MIGRATIONS);
  expect(changed).toBe(false);
  const tablesOf = (type: string) => placements.filter((each) => each.type === type).map(({ table }) => table);
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
