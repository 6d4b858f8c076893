import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { distribute } from "./distribute";

const MIGRATIONS = fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));
const { url, database } = await testDatabase();

test("a database without Citus is refused, and stays as it is", async () => {
  await expect(distribute(url, MIGRATIONS)).rejects.toThrow(
    "The database has no extension citus.",
  );
  const { rows } = await database.pool.query(
    "SELECT count(*)::int AS count FROM pg_trigger WHERE tgrelid = 'ledger_entry'::regclass AND NOT tgisinternal",
  );
  expect(rows).toEqual([{ count: 1 }]);
});
