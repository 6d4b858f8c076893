/**
 * `npm run bench guards`: measures the two sums that the service reads while it locks a balance
 * (`committedAfter` and `heldSince`), for a treasury with 50,000 and with 400,000 past operations.
 * A benchmark, not a test.
 */
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { createDatabase } from "../../lib/platform/db/client";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { sqlOn } from "../../lib/platform/db/sql";
import { committedAfter, type FundsKey, heldSince } from "../../lib/books/holds/sum-repository";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { makeWorkspace } from "../../lib/dev/testing/workspace";
import { quantile } from "./harness";

const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));
const SIZES = [50_000, 400_000];
const STEP = 50_000;
const HELD = 10;
const RECENT = 20;
const RUNS = 500;
const WARM = 50;
const GOAL_MS = 2;
const TREASURY: FundsKey = { walletAddress: "0xTreasury", chainId: 1, token: "0xusdc" };

/**
 * Inserts past operations: operation number n moved one unit, was mined in block n, and its release
 * created version n of the balance's guard.
 */
const SEED = [
  `INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at,
     updated_at)
   SELECT 'op_' || n, 'prj', 'transfer', 'completed', 'full', '{}', '{}', 0, 'bench', '{}', now(), now()
   FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO operation_leg (project_id, id, operation_id, position, wallet_id, wallet_address, kind, source_chain_id, dest_chain_id, state,
     route_leg, amount_base, via, gas, from_block, source_block, updated_at)
   SELECT 'prj', 'leg_' || n, 'op_' || n, 0, 'wal', '0xTreasury', 'transfer', 1, 1, 'completed', '{}', 1, 'user_operation', '{}', 0, n, now()
   FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO balance_hold (id, operation_id, wallet_address, project_id, chain_id, token, amount_base, created_at, released_at,
     released_version)
   SELECT 'leg_' || n, 'op_' || n, '0xTreasury', 'prj', 1, '0xusdc', 1, now(), now(), n FROM generate_series($1::int, $2::int) AS n`,
];

const seed = async (pool: pg.Pool, from: number, to: number): Promise<void> => {
  for (let first = from + 1; first <= to; first += STEP)
    for (const text of SEED) await pool.query(text, [first, Math.min(to, first + STEP - 1)]);
  await pool.query(
    "UPDATE balance_hold SET released_at = now(), released_version = 0 WHERE released_at IS NULL",
  );
  await pool.query(
    "UPDATE balance_hold SET released_at = NULL, released_version = NULL WHERE id = ANY ($1::text[])",
    [Array.from({ length: HELD }, (_, index) => `leg_${String(to - index)}`)],
  );
  await pool.query("VACUUM ANALYZE operation_leg");
  await pool.query("VACUUM ANALYZE balance_hold");
  await pool.query("ANALYZE wallet_payout_batch");
};

const timesOf = async (sum: () => Promise<bigint>, expected: bigint): Promise<number[]> => {
  const times: number[] = [];
  for (let run = 0; run < WARM + RUNS; run += 1) {
    const begun = performance.now();
    if ((await sum()) !== expected) throw new Error("A sum is wrong.");
    if (run >= WARM) times.push(performance.now() - begun);
  }
  return times;
};

export const run = async (): Promise<void> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({ dataDir: `${workspace.folder}/postgres` });
  await postgres.ensureDatabase("bench");
  await migrateDeploy(postgres.url("bench"), MIGRATIONS);
  const database = createDatabase(postgres.url("bench"), { poolSize: 1 });
  const { pool } = database;
  const sql = sqlOn(pool);
  await pool.query("INSERT INTO project (id, name, created_at) VALUES ('prj', 'prj', now())");
  const rows: object[] = [];
  for (const [index, size] of SIZES.entries()) {
    await seed(pool, SIZES[index - 1] ?? 0, size);
    const since = size - HELD - RECENT;
    const expected = BigInt(HELD + RECENT);
    const held = await timesOf(() => heldSince(sql, TREASURY, since), expected);
    const committed = await timesOf(
      () => committedAfter(sql, TREASURY, BigInt(since), new Date()),
      expected,
    );
    for (const [sum, times] of Object.entries({ held, committed }))
      rows.push({
        ...{
          rows: size,
          sum,
          p50Ms: quantile(times, 0.5, 2),
          p95Ms: quantile(times, 0.95, 2),
          goalMs: GOAL_MS,
        },
        met: quantile(times, 0.5, 2) <= GOAL_MS ? "yes" : "NO",
      });
  }
  console.table(rows);
  await database.close();
  await postgres.stop();
  workspace.remove();
};
