import { beforeAll, expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { DISTRIBUTED_TABLES, DISTRIBUTION_COLUMN } from "./distribution/distribute";

// The owner is a superuser, so only triggers restrict it.
const { database } = await testDatabase({ role: "owner" });
const { pool } = database;

const OPERATION = `
  INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at,
    updated_at)
  VALUES ('op_1', 'prj_1', 'swap', 'pending', 'prepared', '{}', '{}', 0, 'test', '{}', now(), now())`;
const EVENT = `
  INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at)
  VALUES ('prj_1', 'op_1', 1, 'operation.created', '{}', now())`;
const ENTRY = `
  INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
  VALUES ('prj_1', gen_random_uuid(), 1, gen_random_uuid(), 'usdc', 1, 1, now())`;

beforeAll(async () => {
  await pool.query("INSERT INTO project (id, name, created_at) VALUES ('prj_1', 'P', now())");
  for (const statement of [OPERATION, EVENT, ENTRY]) await pool.query(statement);
});

test("every row of a table that a cluster distributes names its project", async () => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name::text AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = $1 AND is_nullable = 'NO' AND table_name = ANY($2::text[]) ORDER BY 1`,
    [DISTRIBUTION_COLUMN, [...DISTRIBUTED_TABLES]],
  );
  expect(rows.map(({ name }) => name)).toEqual([...DISTRIBUTED_TABLES].sort());
});

test.each([
  "UPDATE ledger_entry SET project_id = 'prj_x' WHERE seq = 1",
  "UPDATE ledger_entry SET amount = 2 WHERE seq = 1",
  "DELETE FROM ledger_entry WHERE seq = 1",
  "UPDATE operation_event SET project_id = 'prj_x' WHERE operation_id = 'op_1'",
  "UPDATE operation_event SET data = '{\"a\": 1}' WHERE operation_id = 'op_1'",
  "DELETE FROM operation_event WHERE operation_id = 'op_1'",
])("an append-only row stays as it was written: %s", async (statement) => {
  await expect(pool.query(statement)).rejects.toThrow(/append-only/);
});
