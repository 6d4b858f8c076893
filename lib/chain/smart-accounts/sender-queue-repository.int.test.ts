import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createSenderQueue } from "./repository";

const { database } = await testDatabase();
const queue = createSenderQueue(database);
const CHAIN = 1;
const HOUR_MS = 3_600_000;
const sender = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`;
const hash = (name: string): `0x${string}` => `0x${Buffer.from(name).toString("hex")}`;

const admit = (of: `0x${string}`, name: string, chainId = CHAIN): Promise<boolean> =>
  queue.admit({
    chainId,
    sender: of,
    userOpHash: hash(name),
    validUntil: new Date(Date.now() + HOUR_MS),
  });

test("a bundler gets four operations of one sender, and the others in their order as places become free", async () => {
  const one = sender("1");
  const answers: boolean[] = [];
  for (const name of ["a", "b", "c", "d", "e", "f"]) answers.push(await admit(one, name));
  expect(answers).toEqual([true, true, true, true, false, false]);
  // An operation that the bundler has may be offered again.
  expect(await admit(one, "a")).toBe(true);
  await queue.leave(CHAIN, hash("b"));
  expect(await admit(one, "f")).toBe(false);
  expect(await admit(one, "e")).toBe(true);
  expect(await admit(one, "f")).toBe(false);
  await queue.leave(CHAIN, hash("a"));
  expect(await admit(one, "f")).toBe(true);
});

test("senders and chains do not wait for each other", async () => {
  for (const name of ["g", "h", "i", "j"]) expect(await admit(sender("2"), name)).toBe(true);
  expect(await admit(sender("3"), "k")).toBe(true);
  expect(await admit(sender("2"), "l", 2)).toBe(true);
});

test("two instances that ask for twenty operations at once admit four", async () => {
  const names = Array.from({ length: 20 }, (_, index) => `at once ${String(index)}`);
  const queues = [queue, createSenderQueue(database)];
  const validUntil = new Date(Date.now() + HOUR_MS);
  const admitted = await Promise.all(
    names.map((name, index) =>
      (queues[index % 2] ?? queue).admit({
        chainId: CHAIN,
        sender: sender("4"),
        userOpHash: hash(name),
        validUntil,
      }),
    ),
  );
  expect(admitted.filter(Boolean).length).toBeLessThanOrEqual(4);
  for (const name of names) await admit(sender("4"), name);
  expect(
    await database.prisma.bundlerQueue.count({
      where: { sender: sender("4"), admittedAt: { not: null } },
    }),
  ).toBe(4);
});

test("an operation whose validity is long over leaves the queue", async () => {
  const five = sender("5");
  const over = new Date(Date.now() - HOUR_MS);
  for (const name of ["m", "n", "o", "p"])
    await database.prisma.bundlerQueue.create({
      data: {
        chainId: CHAIN,
        sender: five,
        userOpHash: hash(name),
        validUntil: over,
        admittedAt: over,
      },
    });
  expect(await admit(five, "q")).toBe(true);
  expect(await database.prisma.bundlerQueue.count({ where: { sender: five } })).toBe(1);
});
