import { afterAll, expect, test, vi } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import { createDatabase } from "@/lib/platform/db/client";
import { testDatabase } from "@/lib/dev/testing/database";
import { createHeadRepository } from "./head-repository";
import { createHeads } from "./heads";

const { url, database } = await testDatabase();
const instances = Array.from({ length: 4 }, () => createDatabase(url, { poolSize: 2 }));
afterAll(() => Promise.all(instances.map((one) => one.close())));

/**
 * A registry of one kind of chain, whose node counts the calls and answers each with a new block.
 */
const countingRegistry = (pollIntervalMs: number, fails = () => false) => {
  let asked = 0;
  const getBlock = (): Promise<{ number: bigint; timestamp: bigint }> => {
    asked += 1;
    if (fails()) return Promise.reject(new Error("The node is down."));
    return Promise.resolve({
      number: BigInt(asked),
      timestamp: 1_700_000_000n + BigInt(asked),
    });
  };
  const registry = {
    get: () => ({ pollIntervalMs }),
    client: () => ({ getBlock }),
  } as unknown as ChainRegistry;
  return { registry, asked: () => asked };
};

const headsOf = (registry: ChainRegistry) =>
  instances.map((one) => createHeads({ registry, repository: createHeadRepository(one) }));

const HOUR_MS = 3_600_000;

test("one asks for four instances, and all know the same block", async () => {
  const { registry, asked } = countingRegistry(HOUR_MS);
  const all = headsOf(registry);
  const heads = await Promise.all([...all, ...all].map((each) => each.head(1)));
  expect(asked()).toBe(1);
  expect(new Set(heads.map(({ number }) => number))).toEqual(new Set([1n]));
  expect(heads[0]?.timestamp).toBe(1_700_000_001n);
  // A fifth instance, which starts later.
  const late = createHeads({ registry, repository: createHeadRepository(database) });
  expect([await late.head(1), asked()]).toEqual([{ number: 1n, timestamp: 1_700_000_001n }, 1]);
});

test("when the answer is no longer fresh, one of them asks again", async () => {
  const { registry, asked } = countingRegistry(HOUR_MS);
  await Promise.all(headsOf(registry).map((each) => each.head(2)));
  await database.pool.query(
    "UPDATE chain_head SET read_at = now() - interval '1 day' WHERE chain_id = 2",
  );
  const heads = await Promise.all(headsOf(registry).map((each) => each.head(2)));
  expect(heads.map(({ number }) => number)).toEqual([2n, 2n, 2n, 2n]);
  expect(asked()).toBe(2);
});

test("an instance that died while it asked is followed by another when its turn is over, and its late answer counts for nothing", async () => {
  const repository = createHeadRepository(database);
  expect(
    await repository.claim({ chainId: 3, asker: "dead", leaseMs: HOUR_MS, freshMs: HOUR_MS }),
  ).toBe(true);
  const { registry, asked } = countingRegistry(HOUR_MS);
  const waiting = Promise.all(headsOf(registry).map((each) => each.head(3)));
  expect(
    await repository.claim({ chainId: 3, asker: "other", leaseMs: HOUR_MS, freshMs: HOUR_MS }),
  ).toBe(false);
  expect(asked()).toBe(0);
  await database.pool.query("UPDATE chain_head SET asking_until = now() WHERE chain_id = 3");
  expect((await waiting).map(({ number }) => number)).toEqual([1n, 1n, 1n, 1n]);
  expect(asked()).toBe(1);
  await repository.store(3, "dead", { number: 999n, timestamp: 999n });
  expect((await repository.read(3))?.head.number).toBe(1n);
});

test("a node that fails ends its asker's turn at once, so that another instance may ask its own node", async () => {
  const broken = countingRegistry(HOUR_MS, () => true);
  const [first, second] = [
    headsOf(broken.registry)[0],
    headsOf(countingRegistry(HOUR_MS).registry)[1],
  ];
  await expect(first?.head(4)).rejects.toThrow("The node is down.");
  await vi.waitFor(async () => expect((await second?.head(4))?.number).toBe(1n), 20_000);
  // The failure is not cached.
  expect((await first?.head(4))?.number).toBe(1n);
});
