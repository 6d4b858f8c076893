import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { beforeAll, expect, inject, test } from "vitest";
import { afterFile } from "@/lib/testing/after-file";
import { emptyDatabase } from "@/lib/testing/database";
import { makeWorkspace } from "@/lib/testing/workspace";
import { migrateDeploy } from "./migrate";

const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));
const FIRST = "20261126131000_keys_project_columns";
const ENTRIES = inject("isLong") ? 1_000_000 : 12_000;
const EACH = 3000;
const TIMEOUT_MS = 480_000;
const TABLES = ["operation_leg", "operation_event", "payout_rows", "payout_item", "ledger_entry"];

const { folder, remove } = await makeWorkspace();
afterFile(remove);
const { url } = await emptyDatabase();
const pool = new pg.Pool({ connectionString: url, max: 4 });
afterFile(() => pool.end());

/** A folder with the migrations of the version before. */
const earlier = (): string => {
  const to = mkdtempSync(join(folder, "earlier-"));
  for (const name of readdirSync(MIGRATIONS).filter((each) => each < FIRST))
    cpSync(join(MIGRATIONS, name), join(to, name), { recursive: true });
  return to;
};

// The statement by which the previous version stores an operation. Its legs and events have no project, so the triggers have to fill it in.
const OLD_OPERATION = `
  WITH operation_part AS (
    INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at,
      updated_at)
    SELECT 'op_' || n, 'prj_' || n % 3, 'swap', 'pending', 'prepared', '{}', '{}', 0, 'test', '{}', now(), now()
    FROM generate_series($1::int, $2::int) n
  ), leg_part AS (
    INSERT INTO operation_leg (id, operation_id, position, wallet_id, wallet_address, kind, source_chain_id, dest_chain_id, state,
      route_leg, amount_base, via, gas, from_block, updated_at)
    SELECT 'leg_' || n, 'op_' || n, 0, 'wal', '0x', 'swap', 1, 1, 'queued', '{}', 1, 'user_operation', '{}', 0, now()
    FROM generate_series($1::int, $2::int) n
  )
  INSERT INTO operation_event (operation_id, seq, type, data, created_at)
  SELECT 'op_' || n, 1, 'operation.created', '{}', now() FROM generate_series($1::int, $2::int) n`;

const OLD_PAYOUT = `
  WITH stored AS (
    INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, total_base, items_total, digest,
      created_by, created_at, updated_at)
    VALUES ($1, 'prj_1', 'global_accounts', 'independent', 'processing', 'queued', 'ga', 'usdc', 1, 2, '\\x00', 'test', now(), now())
    RETURNING id
  )
  INSERT INTO payout_rows (payout_id, first_index, rows) SELECT id, 0, '[]' FROM stored`;
const OLD_ITEMS = `
  INSERT INTO payout_item (payout_id, index, status, transaction_id)
  SELECT $1, n, 'completed', 'lt_' || n FROM generate_series(0, $2::int) n`;

const OLD_ACCOUNTS = `
  INSERT INTO ledger_account (id, project_id, currency, kind, status, minimum, created_at, updated_at)
  SELECT lpad(to_hex(n), 32, '0')::uuid, 'prj_' || n % 3, 'usdc', 'customer', 'active', 0, now(), now() FROM generate_series(1, $1::int) n`;
const OLD_ENTRIES = `
  INSERT INTO ledger_entry (account_id, seq, transaction_id, currency, amount, balance_after, created_at)
  SELECT lpad(to_hex(1 + n / $3::int), 32, '0')::uuid, 1 + n % $3::int, gen_random_uuid(), 'usdc', 1, 1 + n % $3::int, now()
  FROM generate_series($1::int, $2::int) n`;

const withoutProject = async (): Promise<Record<string, number>> => {
  const counts = await Promise.all(
    TABLES.map(async (table) => {
      const { rows } = await pool.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM ${table} WHERE project_id IS NULL`,
      );
      return [table, rows[0]?.count ?? -1] as const;
    }),
  );
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
};

/** Adds entries as the version before does, one after the other, until it is stopped. @returns how many */
const postMeanwhile = (): { readonly stop: () => Promise<number> } => {
  let stopped = false;
  const run = async (): Promise<number> => {
    let count = 0;
    // A migration that held the table for long would be noticed as an error.
    const client = new pg.Client({ connectionString: url, options: "-c lock_timeout=5000" });
    await client.connect();
    try {
      for (; !stopped; count += 1)
        await client.query(
          `INSERT INTO ledger_entry (account_id, seq, transaction_id, currency, amount, balance_after, created_at)
           VALUES (lpad('1', 32, '0')::uuid, $1, gen_random_uuid(), 'usdc', 1, 1, now())`,
          [1_000_000_000 + count],
        );
    } finally {
      await client.end();
    }
    return count;
  };
  const running = run();
  running.catch(() => undefined);
  return {
    stop: () => {
      stopped = true;
      return running;
    },
  };
};

beforeAll(async () => {
  await migrateDeploy(url, earlier());
  await pool.query(
    "INSERT INTO project (id, name, created_at) SELECT 'prj_' || n, 'P', now() FROM generate_series(0, 2) n",
  );
  await pool.query(OLD_OPERATION, [1, EACH]);
  await pool.query(OLD_PAYOUT, ["po_1"]);
  await pool.query(OLD_ITEMS, ["po_1", 2 * EACH]);
  await pool.query(OLD_ACCOUNTS, [Math.ceil(ENTRIES / EACH) + 1]);
  await pool.query(OLD_ENTRIES, [0, ENTRIES - 1, EACH]);
}, TIMEOUT_MS);

test(
  "rows of earlier versions get their project in bounded steps, while the version before goes on posting",
  async () => {
    const posting = postMeanwhile();
    await migrateDeploy(url, MIGRATIONS);
    const posted = await posting.stop();
    expect(posted).toBeGreaterThan(0);
    expect(await withoutProject()).toEqual({});
    const { rows } = await pool.query(
      `SELECT count(*)::int AS count, count(DISTINCT e.project_id)::int AS projects FROM ledger_entry e
       JOIN ledger_account a ON a.id = e.account_id AND a.project_id = e.project_id`,
    );
    expect(rows).toEqual([{ count: ENTRIES + posted, projects: 3 }]);
  },
  TIMEOUT_MS,
);

test("rows that the version before stores after the migration have their project", async () => {
  await pool.query(OLD_OPERATION, [EACH + 1, EACH + 2]);
  await pool.query(OLD_PAYOUT, ["po_2"]);
  await pool.query(OLD_ITEMS, ["po_2", 1]);
  await pool.query(OLD_ENTRIES, [ENTRIES, ENTRIES + 1, EACH]);
  expect(await withoutProject()).toEqual({});
  const { rows } = await pool.query(
    `SELECT o.project_id AS project, l.project_id AS leg, e.project_id AS event FROM operation o
     JOIN operation_leg l ON l.operation_id = o.id JOIN operation_event e ON e.operation_id = o.id
     WHERE o.id = 'op_' || $1::int`,
    [EACH + 1],
  );
  expect(rows).toEqual([{ project: "prj_1", leg: "prj_1", event: "prj_1" }]);
});

test.each([
  "UPDATE ledger_entry SET project_id = 'prj_x' WHERE seq = 1",
  "UPDATE ledger_entry SET amount = 2 WHERE seq = 1",
  "DELETE FROM ledger_entry WHERE seq = 1",
  "UPDATE operation_event SET project_id = 'prj_x' WHERE operation_id = 'op_1'",
  "UPDATE operation_event SET data = '{\"a\": 1}' WHERE operation_id = 'op_1'",
  "DELETE FROM operation_event WHERE operation_id = 'op_1'",
])("what is append-only stays so after the migration: %s", async (statement) => {
  await expect(pool.query(statement)).rejects.toThrow(/append-only/);
});
