import { expect, test } from "vitest";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Token } from "@/lib/core/token";
import type { ReserveReading } from "./repository";
import { away, counted, readChain } from "./positions";

const WALLET = "0x1111111111111111111111111111111111111111";
const USDC: Token = {
  symbol: "USDC",
  name: "USD Coin",
  chainId: 1,
  address: "0x2222222222222222222222222222222222222222",
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
};

/** A chain that does not answer, and its stored reading. */
const deadChain = (
  screenedBlocks: () => Promise<null> = () => Promise.resolve(null),
  isDead = true,
) => {
  const chain = { asked: 0, nowMs: 10_000_000_000 };
  const since: Date[] = [];
  const known: ReserveReading = { token: USDC.address, balanceBase: 7n, blockNumber: 3n };
  const registry = {
    get: () => ({ name: "One", confirmations: 1, finality: "confirmations", contracts: {} }),
    client: () => ({
      getBlockNumber: () => {
        chain.asked += 1;
        return isDead ? Promise.reject(new TypeError("refused")) : Promise.resolve(9n);
      },
    }),
  } as unknown as ChainRegistry;
  const readings = {
    keep: () => Promise.resolve(),
    find: (_: string, __: number, after: Date) => {
      since.push(after);
      return Promise.resolve(new Map([[USDC.address, known]]));
    },
  };
  const context = {
    registry,
    readings,
    screenedBlocks,
    clock: { now: () => new Date(chain.nowMs) },
    awayUntil: new Map(),
  };
  return { chain, since, read: () => readChain(context, WALLET, 1, [USDC]) };
};

test("a dead chain's newest known balance covers what is owed, and counts for nothing else", async () => {
  const { read, since } = deadChain();
  const positions = await read();
  expect(counted(positions)).toEqual([]);
  expect(away(positions)).toMatchObject([{ finalBase: 7n, blockNumber: 3n }]);
  // Spendings older than seven days are not added up.
  expect(10_000_000_000 - (since[0]?.getTime() ?? 0)).toBeLessThan(7 * 24 * 3_600_000);
});

test("an outage of the database leaves no chain out afterwards", async () => {
  const lost = Object.assign(new Error("the database system is starting up"), {
    code: "57P03",
  });
  const { chain, read } = deadChain(() => Promise.reject(lost), false);
  await expect(read()).rejects.toThrow(lost);
  await expect(read()).rejects.toThrow(lost);
  expect(chain.asked).toBe(2);
});

test("a dead chain is asked by one operation of many, and again after a while", async () => {
  const { chain, read } = deadChain();
  for (let times = 0; times < 3; times += 1) expect(away(await read())).toHaveLength(1);
  expect(chain.asked).toBe(1);
  chain.nowMs += 5_000;
  await read();
  expect(chain.asked).toBe(2);
});
