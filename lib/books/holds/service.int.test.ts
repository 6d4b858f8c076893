import { expect, inject, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { sqlOf } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { createHoldsRepository } from "./repository";
import {
  createHoldsService,
  fundsKeyOf,
  insertHolds,
  requireFunds,
  syncHold,
  type Spending,
} from "./service";

const { database } = await testDatabase();
const seed = inject("testSeed");

const token: Token = {
  symbol: "USDC",
  name: "USD Coin",
  chainId: 1,
  address: "0x0000000000000000000000000000000000000001",
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

/** A seeded random number generator (Mulberry32), so that a failure can be repeated. */
const randomOf = (start: number): (() => number) => {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

let worlds = 0;

/**
 * A wallet with the given balance, and a chain that executes held spendings at random later times.
 */
const newWorld = async (balanceBase: bigint) => {
  const random = randomOf(seed + (worlds += 1));
  const spending: Spending = {
    owner: `0x${String(worlds).padStart(40, "0")}`,
    token,
    amountBase: 1n,
  };
  const world = `w${String(worlds)}`;
  const now = new Date();
  await database.prisma.project.create({
    data: { id: `prj_${world}`, name: world, createdAt: now },
  });
  let spentBase = 0n;
  let readings = 0;
  const pause = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, random() * 8));
  const holds = createHoldsService({
    repository: createHoldsRepository(database),
    readBalanceAt: () => Promise.reject(new Error("No policy asks for screened money.")),
    readBalances: async (at) => {
      readings += 1;
      await pause();
      const seen = balanceBase - spentBase;
      await pause();
      return at.map(() => seen);
    },
  });

  const reserve = (name: string): Promise<string> =>
    holds.reserving([spending], (read) =>
      database.transaction(async (tx) => {
        const id = `${world}_${name}`;
        await tx.operation.create({
          data: {
            id,
            projectId: `prj_${world}`,
            kind: "transfer",
            status: "pending",
            subStatus: "prepared",
            request: {},
            quoted: {},
            minimumBase: "0",
            createdBy: "test",
            searchTerms: [],
            createdAt: now,
            updatedAt: now,
          },
        });
        const hold = { ...fundsKeyOf(spending), legId: id, amountBase: 1n };
        const sql = sqlOf(tx);
        await requireFunds(sql, { holds: [hold], funds: read, now });
        await insertHolds(sql, {
          operationId: id,
          projectId: `prj_${world}`,
          holds: [hold],
          now,
        });
        return id;
      }),
    );

  /** The chain executes the spending; the hold is released some time later. */
  const spend = async (id: string): Promise<void> => {
    await pause();
    spentBase += 1n;
    await pause();
    await database.transaction((tx) => syncHold(tx, id, false, now));
  };

  return { reserve, spend, readings: () => readings, spent: () => spentBase };
};

const codeOf = (error: unknown): string => (isDomainError(error) ? error.code : String(error));

test("a hundred reservations of one balance at once all succeed while earlier ones are being spent", async () => {
  const world = await newWorld(100n);
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const id = await world.reserve(String(index));
      await world.spend(id);
      return id;
    }),
  );
  expect(new Set(ids).size).toBe(100);
  expect(world.spent()).toBe(100n);
  // Concurrent reservations share one read of the balance.
  expect(world.readings()).toBeLessThan(50);
});

test("the same money is never promised twice, whenever balances are read and holds released", async () => {
  const world = await newWorld(40n);
  const outcomes = await Promise.all(
    Array.from({ length: 70 }, async (_, index) => {
      try {
        await world.spend(await world.reserve(String(index)));
        return "promised";
      } catch (error) {
        return codeOf(error);
      }
    }),
  );
  expect(outcomes.filter((one) => one === "promised")).toHaveLength(40);
  expect(new Set(outcomes)).toEqual(new Set(["promised", "insufficient_balance"]));
  expect(world.spent()).toBe(40n);
});
