import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import {
  deposited,
  FAKE_CONFIRMATIONS,
  fakePoolChain,
  type Made,
} from "@/lib/dev/testing/fake-pool-chain";
import { createPoolLogRepository } from "./wallet-repository";

// The real table with the adapter's own reader, and a fake chain that can be reset as far as a test
// wants.
const { database } = await testDatabase();
const store = createPoolLogRepository(database);

const depositOf = (at: number): Made[] =>
  deposited(BigInt(at), BigInt(at), BigInt(at) + 10n ** 9n, BigInt(at));

/** A chain with one deposit in each of its first blocks, followed by final blocks. */
const chainOf = (chainId: number, deposits: number) => {
  const chain = fakePoolChain(store, chainId);
  for (let at = 1; at <= deposits; at += 1) chain.add(depositOf(at));
  for (let block = 0; block < FAKE_CONFIRMATIONS; block += 1) chain.add([]);
  return chain;
};

test("a restart reads the blocks after the final ones alone, and knows all that was known", async () => {
  const chain = chainOf(1, 30);
  const before = await chain.read();
  expect(chain.ranges).toEqual([[0, 41]]);
  chain.restart();
  chain.add(depositOf(31));
  const after = await chain.read();
  expect(chain.ranges.slice(1)).toEqual([[30, 42]]);
  expect(after.leaves).toEqual([...before.leaves, 31n]);
  expect([...after.deposits.values()].slice(0, 30)).toEqual([...before.deposits.values()]);
});

test("what is not final is not kept, so that a reorganisation while no process runs is seen", async () => {
  const chain = chainOf(2, 30);
  chain.add(depositOf(31));
  expect((await chain.read()).leaves).toHaveLength(31);
  chain.setBack(1);
  chain.add(depositOf(32));
  chain.restart();
  expect((await chain.read()).leaves).toEqual([
    ...Array.from({ length: 30 }, (_, at) => BigInt(at + 1)),
    32n,
  ]);
});

test("a chain that was replaced, or reorganised below what was final, is read from its first block", async () => {
  const chain = chainOf(3, 30);
  await chain.read();
  chain.setBack(42);
  for (let at = 50; at < 95; at += 1) chain.add(depositOf(at));
  chain.restart();
  const replaced = Array.from({ length: 45 }, (_, at) => BigInt(at + 50));
  expect((await chain.read()).leaves).toEqual(replaced);
  chain.restart();
  expect((await chain.read()).leaves).toEqual(replaced);
  // A running process notices it too.
  chain.setBack(40);
  for (let at = 100; at < 145; at += 1) chain.add(depositOf(at));
  const expected = [
    ...replaced.slice(0, 5),
    ...Array.from({ length: 45 }, (_, at) => BigInt(at + 100)),
  ];
  expect((await chain.read()).leaves).toEqual(expected);
  chain.restart();
  expect((await chain.read()).leaves).toEqual(expected);
});

test("instances that read at once keep each log once, and each goes on from what another kept", async () => {
  const chain = chainOf(4, 30);
  const instances = Array.from({ length: 4 }, () => chain.instance());
  await Promise.all(instances.map((read) => read()));
  for (let round = 0; round < 3; round += 1) {
    for (let at = 0; at < 5; at += 1) chain.add(depositOf(100 + round * 5 + at));
    for (let block = 0; block < FAKE_CONFIRMATIONS; block += 1) chain.add([]);
    const histories = await Promise.all(instances.map((read) => read()));
    for (const { leaves } of histories) expect(leaves).toHaveLength(30 + (round + 1) * 5);
  }
  const rows = await database.prisma.privacyPoolSegment.findMany({
    where: { chainId: 4 },
    orderBy: { fromBlock: "asc" },
  });
  expect(rows.map(({ fromBlock }) => fromBlock)).toEqual([
    0n,
    ...rows.slice(0, -1).map(({ toBlock }) => toBlock + 1n),
  ]);
  // A deposit makes two logs.
  expect(rows.flatMap(({ logs }) => logs)).toHaveLength(2 * 45);
  chain.restart();
  expect((await chain.read()).leaves).toHaveLength(45);
});

test("the pools of one chain and those of another do not mix", async () => {
  expect(await store.load({ chainId: 5, digest: "none" })).toEqual([]);
  expect(await store.end({ chainId: 5, digest: "none" })).toBeNull();
  const chain = chainOf(5, 3);
  expect((await chain.read()).leaves).toHaveLength(3);
  const counts = await database.prisma.privacyPoolSegment.groupBy({
    by: ["chainId"],
    _count: true,
  });
  expect(counts.find(({ chainId }) => chainId === 5)?._count).toBe(1);
});
