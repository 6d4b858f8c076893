import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { migrateDeploy } from "@/lib/db/migrate";
import { sqlOn } from "@/lib/db/sql";
import type { LedgerService } from "@/lib/modules/ledger/service";
import { emptyDatabase, testDatabase } from "@/lib/testing/database";
import { makeWorkspace } from "@/lib/testing/workspace";
import type { AccountsPayout } from "../payout";
import { createPayoutsRepository } from "../repository";
import { createAccountPayoutsRepository, openPayoutTotals } from "./repository";
import { createAccountPayoutRunner } from "./runner";
import { readItems, settleItems } from "./row-repository";
import { encodeRow, type ItemOutcome, type NewItem } from "./rows";

const MIGRATIONS = join(import.meta.dirname, "../../../../prisma/migrations");
const BEFORE_ROWS = "20261121140000_payouts";

const { database } = await testDatabase();
const payouts = createPayoutsRepository(database, () => undefined);
const repository = createAccountPayoutsRepository({
  database,
  keyFilters: { read: () => Promise.resolve(null) },
});
const sql = sqlOn(database.pool);
const workspace = await makeWorkspace();
afterAll(() => workspace.remove());

const now = new Date();
const itemsOf = (count: number): NewItem[] =>
  Array.from({ length: count }, (_, index) => ({
    recipientAccountId: `ga_${String(index)}`,
    amountBase: BigInt(index + 1),
    reference: index % 2 === 0 ? null : `"Löhne", {${String(index)}} \\ '`,
  }));

const store = async (
  items: readonly NewItem[],
  mode: AccountsPayout["mode"] = "independent",
  sourceAccountId = "ga_source",
): Promise<AccountsPayout> => {
  const payout: Omit<AccountsPayout, "digest"> = {
    id: newId("payout"),
    projectId: "prj_1",
    kind: "global_accounts",
    mode,
    status: "pending",
    subStatus: "created",
    sourceAccountId,
    currency: "usdc",
    reference: null,
    totalBase: items.reduce((sum, { amountBase }) => sum + amountBase, 0n),
    paidBase: 0n,
    failedBase: 0n,
    itemsTotal: items.length,
    itemsCompleted: 0,
    itemsFailed: 0,
    idempotencyKey: null,
    failure: null,
    retryOf: null,
    createdBy: "test",
    createdAt: now,
    updatedAt: now,
    expiresAt: null,
    evaluationId: null,
  };
  const stored = await repository.insertQueued(
    {
      payout,
      rows: items.map(encodeRow),
      keysOf: () => ({ keys: [], allowDuplicates: true, now }),
      digestOf: () => new Uint8Array(32),
      requireFunds: () => undefined,
      audit: ({ id }) => ({
        ...{ projectId: "prj_1", actor: "test", action: "payout.created", subject: id, request: null, at: now },
      }),
    },
    { spend: () => [], evaluate: () => Promise.resolve({ evaluationId: "evl_1", parts: [], condition: null }) },
  );
  if (stored === null) throw new Error("The payout was not stored.");
  return stored;
};

const projectId = "prj_1";

const paid = (index: number): ItemOutcome => ({
  index,
  amountBase: BigInt(index + 1),
  status: "completed",
  transactionId: `lt_${String(index)}`,
  failure: null,
});

const FAILURE = { code: "insufficient_balance", message: "no", retryable: true };
const refused = (index: number): ItemOutcome => ({
  ...paid(index),
  status: "failed",
  transactionId: null,
  failure: FAILURE,
});

const countsOf = async (id: string): Promise<unknown[]> => {
  const row = await payouts.find(id);
  return [row?.itemsCompleted, row?.itemsFailed, row?.paidBase.toString()];
};

describe("the rows of a payout", () => {
  test("are read unchanged, in pages of any size, across stored values", async () => {
    const items = itemsOf(2345);
    const { id: payoutId } = await store(items);
    for (const limit of [7, 999, 1000, 1001, 10_000]) {
      const read: NewItem[] = [];
      for (;;) {
        const page = await readItems(sql, { projectId, payoutId, after: read.length - 1, limit });
        expect(page.length).toBe(Math.min(limit, items.length - read.length));
        expect(page[0]?.index ?? read.length).toBe(read.length);
        read.push(
          ...page.map(({ recipientAccountId, amountBase, reference }) => ({
            recipientAccountId,
            amountBase,
            reference,
          })),
        );
        if (page.length < limit) break;
      }
      expect(read).toEqual(items);
    }
  });

  test("are open until they are settled: paid and refused rows leave the open total of their source", async () => {
    const items = itemsOf(4);
    const sourceAccountId = newId("globalAccount");
    const { id: payoutId } = await store(items, "independent", sourceAccountId);
    await store(items, "atomic", sourceAccountId);
    const open = async () => (await openPayoutTotals(sql, "prj_1", sourceAccountId)).get(sourceAccountId);
    expect(await open()).toBe(20n);
    await payouts.begin({ projectId, id: payoutId }, now);
    await database.rawTransaction((tx) => settleItems(tx, { projectId, payoutId, items: [paid(0), refused(1)], now }));
    expect(await open()).toBe(17n);
    expect((await openPayoutTotals(sql, "prj_1", null)).get(sourceAccountId)).toBe(17n);
    expect(await openPayoutTotals(sql, "prj_2", sourceAccountId)).toEqual(new Map());
    await payouts.finish({ projectId, id: payoutId }, { status: "partially_completed", subStatus: "partial" }, now);
    expect(await open()).toBe(10n);
  });

  test("are found by their state in every stored value", async () => {
    const { id: payoutId } = await store(itemsOf(2100));
    await settleItems(sql, { projectId, payoutId, items: [refused(3), paid(4), refused(1999), paid(2050)], now });
    const indexes = async (status: string | null, after = -1, limit = 5000): Promise<number[]> =>
      (await readItems(sql, { projectId, payoutId, after, limit, status })).map(({ index }) => index);
    expect(await indexes("failed")).toEqual([3, 1999]);
    expect(await indexes("completed")).toEqual([4, 2050]);
    expect(await indexes("completed", 4, 1)).toEqual([2050]);
    const pending = await indexes(null);
    expect(pending).toHaveLength(2096);
    expect(await indexes(null, 1998, 2)).toEqual([2000, 2001]);
    const [ended] = await readItems(sql, { projectId, payoutId, after: 2, limit: 1 });
    expect(ended).toMatchObject({ index: 3, status: "failed", transactionId: null, failure: FAILURE });
  });

  test("are counted once when several instances settle them concurrently", async () => {
    const { id: payoutId } = await store(itemsOf(600));
    const outcomes = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 ? refused(index) : paid(index)));
    const settle = (items: readonly ItemOutcome[]): Promise<void> =>
      database.rawTransaction((tx) => settleItems(tx, { projectId, payoutId, items, now }));
    await Promise.all([settle(outcomes.slice(0, 400)), settle(outcomes.slice(200)), settle(outcomes)]);
    const expected = outcomes.filter(({ status }) => status === "completed");
    const paidBase = expected.reduce((sum, { amountBase }) => sum + amountBase, 0n).toString();
    expect(await countsOf(payoutId)).toEqual([400, 200, paidBase]);
    await settle(outcomes);
    expect(await countsOf(payoutId)).toEqual([400, 200, paidBase]);
  });
});

describe("a payout of which rows are missing", () => {
  const ledger = { together: vi.fn<LedgerService["together"]>() };
  const runner = createAccountPayoutRunner({
    database,
    isAllowed: () => Promise.resolve(true),
    indexKeys: () => Promise.resolve(),
    payouts,
    repository,
    ledger: ledger as unknown as LedgerService,
    clock: { now: () => now },
  });

  test.each(["atomic", "independent"] as const)("and is %s is neither paid nor reported as paid", async (mode) => {
    const { id } = await store(itemsOf(1500), mode);
    await database.pool.query("DELETE FROM payout_rows WHERE payout_id = $1", [id]);
    await payouts.begin({ projectId, id }, now);
    const begun = await payouts.find(id);
    if (begun?.kind !== "global_accounts") throw new Error("The payout was not stored.");
    await expect(runner.run(begun)).rejects.toThrow(id);
    expect(ledger.together).not.toHaveBeenCalled();
    expect(await payouts.find(id)).toMatchObject({ status: "processing", itemsCompleted: 0 });
  });
});

/** The earlier schema, with one table row for each row of a payout. */
const OLD_ROWS = `
  INSERT INTO payout (id, project_id, kind, mode, status, sub_status, source_account_id, currency, total_base, items_total, digest,
    created_by, created_at, updated_at)
  SELECT id, 'prj_1', 'global_accounts', mode, 'processing', 'queued', 'ga_source', 'usdc', 1, 1500, '\\x00', 'test', now(), now()
  FROM (VALUES ('po_atomic', 'atomic'), ('po_each', 'independent')) AS p (id, mode);
  INSERT INTO payout_item (payout_id, index, recipient_account_id, amount_base, reference, status, transaction_id, failure)
  SELECT p.id, i, 'ga_' || i, i + 1, nullif('r' || i, 'r7'), CASE WHEN p.mode = 'independent' AND i IN (5, 1200) THEN 'completed' END,
    CASE WHEN p.mode = 'independent' AND i IN (5, 1200) THEN 'lt_' || i END, NULL
  FROM payout p, generate_series(0, 1499) i`;

test("the migration stores rows of earlier payouts in the present form", async () => {
  const { url } = await emptyDatabase();
  const earlier = mkdtempSync(join(workspace.folder, "migrations-"));
  for (const name of readdirSync(MIGRATIONS).filter((each) => each <= BEFORE_ROWS))
    cpSync(join(MIGRATIONS, name), join(earlier, name), { recursive: true });
  await migrateDeploy(url, earlier);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  try {
    await pool.query(OLD_ROWS);
    await migrateDeploy(url, MIGRATIONS);
    for (const [payoutId, ended] of [
      ["po_atomic", []],
      ["po_each", [5, 1200]],
    ] as const) {
      const rows = await readItems(sqlOn(pool), { projectId, payoutId, after: -1, limit: 10_000 });
      expect(rows).toEqual(
        Array.from({ length: 1500 }, (_, index) => ({
          index,
          recipientAccountId: `ga_${String(index)}`,
          amountBase: BigInt(index + 1),
          reference: index === 7 ? null : `r${String(index)}`,
          status: (ended as readonly number[]).includes(index) ? "completed" : null,
          transactionId: (ended as readonly number[]).includes(index) ? `lt_${String(index)}` : null,
          failure: null,
        })),
      );
    }
  } finally {
    await pool.end();
  }
});
