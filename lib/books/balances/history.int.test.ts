import { expect, test, vi } from "vitest";
import type { Token } from "@/lib/core/token";
import { testDatabase } from "@/lib/dev/testing/database";
import { createBalanceHistory } from "./history";
import { createSnapshotRepository } from "./repository";
import { heldOf, totalByAsset } from "./totals";

const { database } = await testDatabase();
const waitFor = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 });
const snapshots = createSnapshotRepository(database);
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => void warnings.push(message) };
const START = new Date("2026-03-01T10:05:00Z");
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const usdc: Token = {
  symbol: "USDC",
  name: "USD Coin",
  chainId: 1,
  address: "0x0000000000000000000000000000000000000001",
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

const balances = (
  amountBase: bigint,
  options: { stale?: boolean; price?: string | null } = {},
) => ({
  totals: totalByAsset([
    { walletId: "wal_1", address: "0x02", token: usdc, ...heldOf(amountBase) },
  ]),
  priceOf: () => (options.price === undefined ? "1" : options.price),
  stale: options.stale === true ? [{ chainId: 1 }] : [],
});

let projects = 0;
const newHistory = (repository = snapshots) => {
  let now = START;
  const history = createBalanceHistory({
    snapshots: repository,
    clock: { now: () => now },
    log,
  });
  const projectId = `prj_${String((projects += 1))}`;
  return {
    projectId,
    list: (days = 30) => history.list(projectId, days),
    rows: () => database.prisma.balanceSnapshot.count({ where: { projectId } }),
    note: (afterMs: number, read: ReturnType<typeof balances>): void => {
      now = new Date(START.getTime() + afterMs);
      history.note(projectId, read);
    },
  };
};
type History = ReturnType<typeof newHistory>;

const amounts = async ({ list }: History, days?: number): Promise<string[]> =>
  (await list(days)).map(({ assets }) => assets[0]?.amount ?? "none");

test("the latest reading of each hour is kept, in order", async () => {
  const history = newHistory();
  history.note(0, balances(1_000_000n));
  await waitFor(async () => expect(await amounts(history)).toEqual(["1"]));
  history.note(20 * MINUTE_MS, balances(2_500_000n));
  await waitFor(async () => expect(await amounts(history)).toEqual(["2.5"]));
  history.note(60 * MINUTE_MS, balances(3_000_000n));
  await waitFor(async () => expect(await amounts(history)).toEqual(["2.5", "3"]));
  const [first] = await history.list();
  expect(first).toEqual({
    takenAt: new Date(START.getTime() + 20 * MINUTE_MS),
    totalUsd: "2.5",
    assets: [{ assetId: "usdc", token: "USDC", amount: "2.5", usd: "2.5" }],
  });
});

test("a reading with a stale chain is not kept, and many within a minute are written once", async () => {
  const history = newHistory();
  history.note(0, balances(1n, { stale: true }));
  history.note(1, balances(2n));
  for (let again = 2; again < 50; again += 1) history.note(again, balances(3n));
  await waitFor(async () => expect(await amounts(history)).toEqual(["0.000002"]));
  expect(await history.rows()).toBe(1);
});

test("a reading without prices does not replace one with prices", async () => {
  const history = newHistory();
  history.note(0, balances(1_000_000n));
  await waitFor(async () => expect(await history.rows()).toBe(1));
  history.note(10 * MINUTE_MS, balances(2_000_000n, { price: null }));
  history.note(70 * MINUTE_MS, balances(3_000_000n, { price: null }));
  await waitFor(async () => expect(await history.rows()).toBe(2));
  expect(
    (await history.list()).map(({ totalUsd, assets }) => [totalUsd, assets[0]?.usd]),
  ).toEqual([
    ["1", "1"],
    [null, null],
  ]);
});

test("the history covers the requested days, with one point per day beyond thirty days", async () => {
  const history = newHistory();
  const days = [0, 1 / 24, 20, 20 + 1 / 24, 40, 40 + 1 / 24];
  for (const [index, day] of days.entries()) {
    history.note(day * DAY_MS, balances(BigInt(index + 1) * 1_000_000n));
    await waitFor(async () => expect(await history.rows()).toBe(index + 1));
  }
  expect(await amounts(history, 30)).toEqual(["3", "4", "5", "6"]);
  expect(await amounts(history, 365)).toEqual(["2", "4", "6"]);
});

test("a failed write does not fail the reading, and is tried again at the next one", async () => {
  let broken = true;
  const history = newHistory({
    ...snapshots,
    save: (projectId, point) =>
      broken ? Promise.reject(new Error("no database")) : snapshots.save(projectId, point),
  });
  history.note(0, balances(1n));
  await waitFor(() => expect(warnings).toEqual(["a balance snapshot could not be kept"]));
  broken = false;
  history.note(1, balances(2n));
  await waitFor(async () => expect(await amounts(history)).toEqual(["0.000002"]));
});
