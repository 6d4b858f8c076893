import { afterAll, expect, test, vi } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import type { BudgetStore } from "@/lib/core/shared-budget";
import { testDatabase } from "@/lib/dev/testing/database";
import { testConfig } from "@/lib/dev/testing/devnet";
import { createDatabase, type Database } from "./client";
import { createRpcBudgetStore } from "./rate-window";

const { url, database } = await testDatabase();
const instances = Array.from({ length: 4 }, () => createDatabase(url, { poolSize: 2 }));
afterAll(() => Promise.all(instances.map((one) => one.close())));

const HOUR = 3_600;
/** A bucket that needs an hour to refill by one request. */
const slowRate = { perSecond: 1 / HOUR, capacity: 100 };
const slow = { ...slowRate, debtMax: 30, wanted: 7, sends: 0, owed: 0 };

const takeAll = (input: Parameters<BudgetStore["take"]>[0], times: number) =>
  Promise.all(
    Array.from({ length: times }, (_, index) => {
      const one = instances[index % instances.length] ?? database;
      return createRpcBudgetStore(one).take(input);
    }),
  );

const sumOf = (slices: readonly { granted: number }[]): number =>
  slices.reduce((sum, { granted }) => sum + granted, 0);

test("four instances at the same time get exactly what the bucket holds", async () => {
  const slices = await takeAll({ ...slow, chainId: 1 }, 60);
  expect(sumOf(slices)).toBe(100);
  expect(Math.max(...slices.map(({ granted }) => granted))).toBe(7);
});

test("an empty bucket gives nothing to reads, and to sends what the next second brings", async () => {
  await takeAll({ ...slow, chainId: 2 }, 60);
  const sends = await takeAll({ ...slow, chainId: 2, wanted: 4, sends: 4 }, 20);
  expect(sumOf(sends)).toBe(30);
  expect(sumOf(await takeAll({ ...slow, chainId: 2 }, 20))).toBe(0);
});

test("what is owed is taken also from an empty bucket, and the debt has a bound", async () => {
  await takeAll({ ...slow, chainId: 3, owed: 10_000 }, 2);
  const [slice] = await takeAll({ ...slow, chainId: 3 }, 1);
  expect(slice?.granted).toBe(0);
  expect(slice?.left).toBeCloseTo(-30, 1);
});

test("the bucket is refilled by the database's clock, up to its capacity", async () => {
  const rate = { ...slow, chainId: 4, perSecond: 10 };
  await takeAll({ ...rate, perSecond: slow.perSecond }, 60);
  await database.pool.query(
    "UPDATE rpc_budget SET requests = 0, refilled_at = now() - interval '3 s' WHERE chain_id = 4",
  );
  const [first] = await takeAll({ ...rate, wanted: 1_000 }, 1);
  expect(first?.granted).toBeGreaterThanOrEqual(30);
  await database.pool.query(
    "UPDATE rpc_budget SET refilled_at = now() - interval '1 day' WHERE chain_id = 4",
  );
  const [full] = await takeAll({ ...rate, wanted: 1_000 }, 1);
  expect(full?.granted).toBe(100);
  await database.pool.query(
    "UPDATE rpc_budget SET refilled_at = now() + interval '1 day' WHERE chain_id = 4",
  );
  expect(sumOf(await takeAll({ ...rate, wanted: 1_000 }, 1))).toBe(0);
});

const CALLS_EACH = 40;
const WAIT = { timeout: 30_000, interval: 5 };

/**
 * Counts the requests that the bucket granted or charged for after they had been sent, and the
 * times when it was empty.
 */
interface Taken {
  requests: number;
  refusals: number;
}

/** A store whose bucket refills at `rate`. */
const countedStore = (one: Database, rate: typeof slowRate, taken: Taken): BudgetStore => ({
  take: async (input) => {
    const slice = await createRpcBudgetStore(one).take({
      ...input,
      ...rate,
      debtMax: slow.debtMax,
    });
    taken.requests += slice.granted + input.owed;
    if (slice.granted === 0) taken.refusals += 1;
    return slice;
  },
});

test("four instances together send to a node what the chain's bucket gives, and the rest waits for more", async () => {
  let sent = 0;
  const node: typeof fetch = (_, init) => {
    const calls = JSON.parse(init?.body as string) as { id: number } | { id: number }[];
    sent += Array.isArray(calls) ? calls.length : 1;
    const answer = ({ id }: { id: number }) => ({ jsonrpc: "2.0", id, result: "0x1" });
    return Promise.resolve(
      Response.json(Array.isArray(calls) ? calls.map(answer) : answer(calls)),
    );
  };
  const chain = testConfig({
    databaseUrl: url,
    variables: { RPC_BUDGET_31337: "40" },
  }).chains.find(({ id }) => id === 31337);
  if (chain === undefined) throw new Error("The local chains have no chain 31337.");
  const taken = { requests: 0, refusals: 0 };
  const rate = { ...slowRate };
  const registries = instances.map((one) =>
    createChainRegistry([chain], {
      fetchFn: node,
      budgetStore: countedStore(one, rate, taken),
    }),
  );
  const calls = Promise.all(
    registries.flatMap((registry) =>
      Array.from({ length: CALLS_EACH }, (_, block) =>
        registry
          .client(chain.id)
          .getBalance({ address: chain.contracts.entryPoint, blockNumber: BigInt(block) }),
      ),
    ),
  );
  // Each instance wants fewer requests than the bucket holds, so none would be refused if each had
  // a separate bucket.
  await vi.waitFor(() => {
    expect(taken.refusals).toBeGreaterThan(0);
    expect(taken.requests).toBeGreaterThanOrEqual(slowRate.capacity);
  }, WAIT);
  expect(sent).toBeLessThanOrEqual(slowRate.capacity + slow.debtMax);
  rate.perSecond = slowRate.capacity;
  await calls;
  expect(sent).toBeGreaterThanOrEqual(instances.length * CALLS_EACH);
});
