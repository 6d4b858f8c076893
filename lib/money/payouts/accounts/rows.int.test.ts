import { describe, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import type { LedgerService } from "@/lib/books/ledger/service";
import { asOwner, testDatabase } from "@/lib/dev/testing/database";
import type { AccountsPayout } from "../payout";
import { insertPayout, type IntakeUses } from "../intake-repository";
import { createPayoutsRepository, openPayoutTotals } from "../repository";
import { createAccountPayoutRunner } from "./runner";
import { readItems, settleItems } from "./row-repository";
import { encodeRow, type ItemOutcome, type NewItem } from "./rows";

const { url, database } = await testDatabase();
const payouts = createPayoutsRepository(database);
const sql = sqlOn(database.pool);

const projectId = "prj_1";
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
  const payout: AccountsPayout = {
    id: newId("payout"),
    projectId,
    kind: "global_accounts",
    mode,
    status: "pending",
    subStatus: "queued",
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
    digest: new Uint8Array(32),
  };
  const check = {
    evaluate: () => Promise.resolve({ evaluationId: "evl_1", store: () => Promise.resolve() }),
    enforce: () => Promise.reject(new Error("It is stored with the payout.")),
  };
  const start = {
    check,
    subject: { type: "payout", id: payout.id, digest: payout.digest },
    hasCode: true,
    holding: null,
    fundedBy: null,
    spending: null,
  } as const;
  const uses = {} as IntakeUses;
  const stored = await database.rawTransaction((tx) =>
    insertPayout(tx, uses, {
      parts: { kind: "global_accounts", payout, asset: null },
      rows: { kind: "global_accounts", encoded: items.map(encodeRow) },
      keys: { keys: [], allowDuplicates: true, now },
      obstacle: null,
      run: null,
      audit: {
        projectId,
        actor: "test",
        action: "payout.created",
        subject: payout.id,
        request: null,
        at: now,
      },
      start,
      votes: null,
    }),
  );
  if (stored.kind !== "global_accounts") throw new Error("The payout was not stored.");
  return stored;
};

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
        const page = await readItems(sql, {
          projectId,
          payoutId,
          after: read.length - 1,
          limit,
        });
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
    const open = async () =>
      (await openPayoutTotals(sql, "prj_1", sourceAccountId)).get(sourceAccountId);
    expect(await open()).toBe(20n);
    await payouts.begin({ projectId, id: payoutId }, now);
    await database.rawTransaction((tx) =>
      settleItems(tx, { projectId, payoutId, items: [paid(0), refused(1)], now }),
    );
    expect(await open()).toBe(17n);
    expect((await openPayoutTotals(sql, "prj_1", null)).get(sourceAccountId)).toBe(17n);
    expect(await openPayoutTotals(sql, "prj_2", sourceAccountId)).toEqual(new Map());
    const counted = await payouts.find(payoutId);
    if (counted === null) throw new Error("The payout was not stored.");
    await payouts.finish(counted, now);
    expect(await payouts.find(payoutId)).toMatchObject({ status: "partially_completed" });
    expect(await open()).toBe(10n);
  });

  test("are found by their state in every stored value", async () => {
    const { id: payoutId } = await store(itemsOf(2100));
    await settleItems(sql, {
      projectId,
      payoutId,
      items: [refused(3), paid(4), refused(1999), paid(2050)],
      now,
    });
    const indexes = async (
      status: string | null,
      after = -1,
      limit = 5000,
    ): Promise<number[]> =>
      (await readItems(sql, { projectId, payoutId, after, limit, status })).map(
        ({ index }) => index,
      );
    expect(await indexes("failed")).toEqual([3, 1999]);
    expect(await indexes("completed")).toEqual([4, 2050]);
    expect(await indexes("completed", 4, 1)).toEqual([2050]);
    const pending = await indexes(null);
    expect(pending).toHaveLength(2096);
    expect(await indexes(null, 1998, 2)).toEqual([2000, 2001]);
    const [ended] = await readItems(sql, { projectId, payoutId, after: 2, limit: 1 });
    expect(ended).toMatchObject({
      index: 3,
      status: "failed",
      transactionId: null,
      failure: FAILURE,
    });
  });

  test("are counted once when several instances settle them concurrently", async () => {
    const { id: payoutId } = await store(itemsOf(600));
    const outcomes = Array.from({ length: 600 }, (_, index) =>
      index % 3 === 0 ? refused(index) : paid(index),
    );
    const settle = (items: readonly ItemOutcome[]): Promise<void> =>
      database.rawTransaction((tx) => settleItems(tx, { projectId, payoutId, items, now }));
    await Promise.all([
      settle(outcomes.slice(0, 400)),
      settle(outcomes.slice(200)),
      settle(outcomes),
    ]);
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
    payouts,
    reader: sql,
    ledger: ledger as unknown as LedgerService,
    clock: { now: () => now },
  });

  test.each(["atomic", "independent"] as const)(
    "and is %s is neither paid nor reported as paid",
    async (mode) => {
      const { id } = await store(itemsOf(1500), mode);
      await asOwner(url, "DELETE FROM payout_rows WHERE payout_id = $1", [id]);
      await payouts.begin({ projectId, id }, now);
      const begun = await payouts.find(id);
      if (begun?.kind !== "global_accounts") throw new Error("The payout was not stored.");
      await expect(runner.run(begun)).rejects.toThrow(id);
      expect(ledger.together).not.toHaveBeenCalled();
      expect(await payouts.find(id)).toMatchObject({ status: "processing", itemsCompleted: 0 });
    },
  );
});
