import { expect, inject, test } from "vitest";
import { sqlOf, sqlOn } from "@/lib/platform/db/sql";
import { sql, type Statement } from "@/lib/platform/db/statement";
import { testDatabase } from "@/lib/dev/testing/database";
import {
  committedAfter,
  type FundsKey,
  heldSince,
  selectCommittedAfter,
  selectHeldSince,
} from "./sum-repository";

const ROWS = inject("isLong") ? 1_000_000 : 50_000;
const SEED_MS = inject("isLong") ? 900_000 : 120_000;
/** The 8 kB pages that one sum may read, for any number of rows. */
const BUFFERS_MAX = 150;
const HELD = 10;
const RECENT = 20;

const { database } = await testDatabase({ role: "owner" });
const db = sqlOf(database.prisma);
const TREASURY: FundsKey = { walletAddress: "0xTreasury", chainId: 1, token: "0xusdc" };
const NOW = new Date();

/**
 * A treasury with ROWS past operations of one unit each: row n was mined in block n, and its
 * release made the guard's version n.
 */
const seed = async (): Promise<void> => {
  await database.pool.query(
    `INSERT INTO project (id, name, created_at) VALUES ('prj', 'prj', now())`,
  );
  const step = 50_000;
  for (let from = 1; from <= ROWS; from += step) {
    const numbers = [from, Math.min(ROWS, from + step - 1)];
    await database.pool.query(
      `INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at,
         updated_at)
       SELECT 'op_' || n, 'prj', 'transfer', 'completed', 'full', '{}', '{}', 0, 'test', '{}', now(), now()
       FROM generate_series($1::int, $2::int) AS n`,
      numbers,
    );
    await database.pool.query(
      `INSERT INTO operation_leg (project_id, id, operation_id, position, wallet_id, wallet_address, kind, source_chain_id, dest_chain_id, state,
         route_leg, amount_base, via, gas, from_block, source_block, updated_at)
       SELECT 'prj', 'leg_' || n, 'op_' || n, 0, 'wal', '0xTreasury', 'transfer', 1, 1, 'completed', '{}', 1, 'user_operation', '{}', 0, n, now()
       FROM generate_series($1::int, $2::int) AS n`,
      numbers,
    );
    await database.pool.query(
      `INSERT INTO balance_hold (id, operation_id, wallet_address, project_id, chain_id, token, amount_base, created_at, released_at,
         released_version)
       SELECT 'leg_' || n, 'op_' || n, '0xTreasury', 'prj', 1, '0xusdc', 1, now(), CASE WHEN n <= $3 THEN now() END,
         CASE WHEN n <= $3 THEN n END
       FROM generate_series($1::int, $2::int) AS n`,
      [...numbers, ROWS - HELD],
    );
  }
  await database.pool.query("ANALYZE operation_leg, balance_hold, wallet_payout_batch");
};

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Shared Hit Blocks": number;
  readonly "Shared Read Blocks": number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const planOf = async (statement: Statement): Promise<Plan> => {
  const [row] = await sqlOn(database.pool).query<{ "QUERY PLAN": readonly { Plan: Plan }[] }>(
    sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`,
  );
  const plan = row?.["QUERY PLAN"][0]?.Plan;
  if (plan === undefined) throw new Error("There is no plan.");
  return plan;
};

const expectIndexed = (plan: Plan): void => {
  const scanned = nodesOf(plan).filter(
    ({ "Relation Name": table }) => table !== undefined && table !== "wallet_payout_batch",
  );
  expect(scanned.length).toBeGreaterThanOrEqual(2);
  expect(
    scanned
      .map((node) => node["Node Type"])
      .filter((type) => !/^(Bitmap Heap|Index|Index Only) Scan$/.test(type)),
  ).toEqual([]);
  expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThanOrEqual(
    BUFFERS_MAX,
  );
};

test(
  `after ${String(ROWS)} operations the sums of a treasury read an index and few pages`,
  async () => {
    await seed();
    const since = ROWS - HELD - RECENT;
    expect(await heldSince(db, TREASURY, since)).toBe(BigInt(HELD + RECENT));
    expect(await committedAfter(db, TREASURY, BigInt(since), NOW)).toBe(BigInt(HELD + RECENT));
    expectIndexed(await planOf(selectHeldSince(TREASURY, since)));
    const releasedAfter = new Date(NOW.getTime() - 60_000);
    expectIndexed(await planOf(selectCommittedAfter(TREASURY, BigInt(since), releasedAfter)));
  },
  SEED_MS,
);

test("a payout's batch counts until its block is final, as long as it is held or was mined later", async () => {
  const payer: FundsKey = { walletAddress: "0xPayer", chainId: 7, token: "native" };
  const hold = { operationId: "po_1", projectId: "prj_payer", ...payer, createdAt: NOW };
  await database.prisma.balanceHold.createMany({
    data: [
      { ...hold, id: "po_1/0", amountBase: 1, releasedAt: NOW, releasedVersion: 1 },
      { ...hold, id: "po_1/1", amountBase: 10, releasedAt: NOW, releasedVersion: 2 },
      { ...hold, id: "po_1/2", amountBase: 100 },
      { ...hold, id: "po_1/3", amountBase: 1000, releasedAt: NOW, releasedVersion: 3 },
    ],
  });
  const batch = {
    projectId: "prj_payer",
    payoutId: "po_1",
    ...payer,
    rows: 1,
    state: "mined",
    updatedAt: NOW,
  };
  await database.prisma.walletPayoutBatch.createMany({
    data: [
      { ...batch, number: 0, amountBase: 1, blockNumber: 50 },
      { ...batch, number: 1, amountBase: 10, blockNumber: 51 },
      { ...batch, number: 2, amountBase: 100, state: "queued" },
      { ...batch, number: 3, amountBase: 1000, state: "cancelled" },
    ],
  });
  expect(await committedAfter(db, payer, 50n, NOW)).toBe(110n);
  expect(await committedAfter(db, payer, 49n, NOW)).toBe(111n);
  expect(await committedAfter(db, { ...payer, chainId: 8 }, 49n, NOW)).toBe(0n);
  expect(await heldSince(db, payer, 1)).toBe(1110n);
});
