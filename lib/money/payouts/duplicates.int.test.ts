import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { createDatabase } from "@/lib/platform/db/client";
import { keptSqlOn, sqlBy, sqlOn } from "@/lib/platform/db/sql";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testDatabase } from "@/lib/dev/testing/database";
import { findDuplicates, insertRowKeys, lockRowKeys } from "./duplicate-repository";
import type { DuplicateRow } from "./duplicate-rows";

const { url } = await testDatabase({ role: "owner" });
// Payouts that are stored at once keep a connection each.
const database = createDatabase(url, { poolSize: 12 });
afterFile(() => database.close());

const keysOf = (count: number): string[] =>
  Array.from({ length: count }, () => randomBytes(16).toString("hex"));

const INSERT_PAYOUT = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, total_base, items_total, digest, created_by, created_at, updated_at)
  VALUES ($1, $2, 'wallets', 'independent', 'pending', 'queued', 0, 1, '\\x00', 'test', now(), now())`;

interface Payment {
  readonly projectId: string;
  readonly keys: readonly string[];
  readonly allowDuplicates?: boolean;
  /** Runs when the keys are stored, before the commit. */
  readonly before?: () => Promise<void>;
}

/** Stores a payout with its keys. @returns the duplicates that were allowed */
const accept = ({
  projectId,
  keys,
  allowDuplicates = false,
  before,
}: Payment): Promise<DuplicateRow[]> =>
  database.rawTransaction(async (sql) => {
    const id = newId("payout");
    const rowKeys = { keys, allowDuplicates, now: new Date() };
    await lockRowKeys(sql, projectId, rowKeys);
    const found = await findDuplicates(sql, projectId, rowKeys);
    await sql.change(INSERT_PAYOUT, [id, projectId]);
    await insertRowKeys(sql, { id, projectId }, rowKeys);
    await before?.();
    return found;
  }, keptSqlOn);

const isWaiting = async (): Promise<boolean> => {
  const { rows } = await database.pool.query(
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  return rows.length > 0;
};

test("a payout waits for another one with an equal row and finds it", async () => {
  const projectId = newId("project");
  const [common, ...rest] = keysOf(3) as [string, string, string];
  const later: Promise<unknown>[] = [];
  const before = async (): Promise<void> => {
    later.push(
      expect(accept({ projectId, keys: [rest[1], common] })).rejects.toMatchObject({
        code: "duplicate_payout",
        details: [{ path: "transfers.1" }],
      }),
    );
    await expect.poll(isWaiting).toBe(true);
  };
  await accept({ projectId, keys: [common, rest[0]], before });
  await Promise.all(later);
});

test("a payout that waited for one that was rolled back finds nothing", async () => {
  const projectId = newId("project");
  const keys = keysOf(2);
  const later: Promise<unknown>[] = [];
  const before = async (): Promise<void> => {
    later.push(accept({ projectId, keys }));
    await expect.poll(isWaiting).toBe(true);
    throw new Error("rolled back");
  };
  await expect(accept({ projectId, keys, before })).rejects.toThrow("rolled back");
  expect(await Promise.all(later)).toEqual([[]]);
});

test("no row is paid twice, while payouts of common rows are accepted, refused and fail at once", async () => {
  const projectId = newId("project");
  const asked = keysOf(500);
  const paid: string[] = [];
  const counts = { accepted: 0, refused: 0, failed: 0 };
  const one = async (): Promise<void> => {
    const keys = [
      ...keysOf(20),
      ...new Set(Array.from({ length: 4 }, () => asked[Math.floor(Math.random() * 500)] ?? "")),
    ];
    const fails = Math.random() < 0.2;
    const before = async (): Promise<void> => {
      await new Promise((done) => setTimeout(done, Math.random() * 10));
      if (fails) throw new Error("rolled back");
    };
    try {
      await accept({ projectId, keys, before });
      counts.accepted += 1;
      paid.push(...keys);
    } catch (error) {
      if (error instanceof Error && error.message === "rolled back") counts.failed += 1;
      else {
        expect(error).toMatchObject({ code: "duplicate_payout" });
        counts.refused += 1;
      }
    }
  };
  const lane = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await one();
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  expect(new Set(paid).size).toBe(paid.length);
  // Chance decides how often; each of them has to have happened.
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
  const all = await accept({ projectId, keys: paid, allowDuplicates: true });
  expect(all).toHaveLength(paid.length);
}, 180_000);

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

const SEED = [
  ...[
    "payout",
    "payout_row_key",
    "payout_item",
    "wallet_payout_item",
    "wallet_payout_batch",
  ].map((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = off)`),
  `INSERT INTO payout (id, project_id, kind, mode, status, sub_status, total_base, items_total, digest, created_by, created_at, updated_at)
   SELECT 'po_' || n, 'prj', 'wallets', 'independent', 'completed', 'full', 0, 100, '\\x00', 'test', now(), now() FROM generate_series(1, 1000) n`,
  `INSERT INTO payout_row_key (project_id, row_key, payout_id, index, created_at)
   SELECT 'prj', decode(md5(n::text), 'hex'), 'po_' || 1 + n / 100, n % 100, now() FROM generate_series(0, 99999) n`,
  `INSERT INTO wallet_payout_item (project_id, payout_id, index, recipient, token, amount_base, batch)
   SELECT 'prj', 'po_' || 1 + n / 100, n % 100, '0x', 'USDC', 1, n % 100 / 10 FROM generate_series(0, 99999) n`,
  `INSERT INTO wallet_payout_batch (project_id, payout_id, number, token, rows, amount_base, state, updated_at, wallet_address, chain_id)
   SELECT 'prj', 'po_' || 1 + n / 10, n % 10, 'USDC', 10, 10, 'paid', now(), '0x', 1 FROM generate_series(0, 9999) n`,
  `INSERT INTO payout_item (project_id, payout_id, index, status)
   SELECT 'prj', 'po_accounts', n, 'completed' FROM generate_series(0, 99999) n`,
];

test("each of 10,000 keys and its row are looked up by an index, in tables with statistics and without", async () => {
  for (const text of SEED) await database.pool.query(text);
  const keys = { keys: keysOf(10_000), allowDuplicates: true, now: new Date() };
  const plans: Plan[] = [];
  const explaining = sqlBy({
    ...sqlOn(database.pool),
    query: async (text, values) => {
      const { rows } = await database.pool.query<{ "QUERY PLAN": readonly [{ Plan: Plan }] }>(
        `EXPLAIN (FORMAT JSON) ${text}`,
        [...values],
      );
      plans.push(...rows.map((row) => row["QUERY PLAN"][0].Plan));
      return [];
    },
  });
  await findDuplicates(explaining, "prj", keys);
  await database.pool.query("ANALYZE");
  await findDuplicates(explaining, "prj", keys);
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    const reads = nodesOf(plan).filter((node) => node["Relation Name"] !== undefined);
    // The heap pages of a bitmap are those that its index found.
    const whole = reads.filter(
      (node) => node["Node Type"] !== "Bitmap Heap Scan" && node["Index Cond"] === undefined,
    );
    expect(whole).toEqual([]);
    const conditions = nodesOf(plan).map((node) => node["Index Cond"] ?? "");
    expect(conditions.filter((each) => /row_key = .*key/.test(each))).toHaveLength(1);
    expect(conditions.filter((each) => /index = found.index/.test(each))).toHaveLength(2);
    expect(
      conditions.filter((each) => /number = item.batch|number = wallet/.test(each)),
    ).toHaveLength(1);
  }
}, 120_000);
