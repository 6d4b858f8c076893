import { describe, expect, test } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { parseUsd } from "@/lib/core/fees";
import { systemClock } from "@/lib/core/clock";
import { localChains } from "@/lib/dev/devnet/local-chains";
import { abortable } from "@/lib/core/abortable";
import type { Pool, PoolBook } from "./pool-book";
import { createPriceSource, formatUsd, type PriceSource, usdToTokenCeil } from "./price";
import { DEFAULT_TUNING } from "./chain-access";

const [ONE, TWO, THREE] = [31337, 31338, 31339] as const;
const registry = createChainRegistry(localChains().chains);
const never = (): AbortSignal => new AbortController().signal;

/** A deep pool in which one WETH costs the square of `squareRoot` in DAI. */
const poolAt = (chainId: number, squareRoot: bigint): Pool => {
  const [weth, dai] = ["WETH", "DAI"].map((symbol) =>
    registry.resolveToken(chainId, symbol).address.toLowerCase(),
  );
  const [address0 = "", address1 = ""] = [weth ?? "", dai ?? ""].sort();
  const sqrtPriceX96 = address0 === weth ? squareRoot * 2n ** 96n : 2n ** 96n / squareRoot;
  return {
    address: "pool",
    token0: address0,
    token1: address1,
    fee: 500,
    sqrtPriceX96,
    liquidity: 10n ** 24n,
  };
};

/** A price source over chains with these pools; other chains have none. */
const pricesOver = (
  poolsOf: Readonly<Record<number, (signal: AbortSignal) => Promise<readonly Pool[]>>>,
): PriceSource => {
  const book: PoolBook = {
    pools: async (chainId, signal) => (await poolsOf[chainId]?.(signal)) ?? [],
    stateCalls: () => [],
    learn: (_, pools) => pools,
  };
  return createPriceSource({ registry, clock: systemClock, tuning: DEFAULT_TUNING }, book);
};
const at = (chainId: number, squareRoot: bigint) => () =>
  Promise.resolve([poolAt(chainId, squareRoot)]);
const away = () => Promise.reject(new Error("The chain is away."));

const highest = async (
  prices: PriceSource,
  chainId: number,
  symbol = "WETH",
): Promise<number | null> => {
  const price = await prices.highestUsd(registry.resolveToken(chainId, symbol), never());
  return price === null ? null : Math.round(Number(formatUsd(price)));
};

describe("the highest price of an asset", () => {
  test.each([
    { where: "the first chain", roots: [60n, 50n, 40n] },
    { where: "a chain between", roots: [50n, 60n, 40n] },
    { where: "the last chain", roots: [40n, 50n, 60n] },
  ])(
    "is that of $where, whichever chain is asked about",
    async ({ roots: [one = 0n, two = 0n, three = 0n] }) => {
      const prices = pricesOver({
        [ONE]: at(ONE, one),
        [TWO]: at(TWO, two),
        [THREE]: at(THREE, three),
      });
      for (const chainId of [ONE, TWO, THREE])
        expect(await highest(prices, chainId)).toBe(3600);
    },
  );

  test("is not the price of the chain that answers first", async () => {
    const slowly = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return [poolAt(TWO, 60n)];
    };
    const prices = pricesOver({ [ONE]: at(ONE, 50n), [TWO]: slowly });
    const weth = registry.resolveToken(ONE, "WETH");
    expect(Number(formatUsd((await prices.usd(weth, never())) ?? 0n))).toBeCloseTo(2500, 3);
    expect(await highest(prices, ONE)).toBe(3600);
  });

  test("is found among the chains that answer", async () => {
    const prices = pricesOver({ [ONE]: at(ONE, 50n), [TWO]: away, [THREE]: at(THREE, 40n) });
    expect(await highest(prices, TWO)).toBe(2500);
    expect(await highest(pricesOver({ [ONE]: away, [TWO]: away }), ONE)).toBeNull();
  });

  test("does not wait long for a chain that hangs", async () => {
    const hangs = (signal: AbortSignal) =>
      abortable(new Promise<readonly Pool[]>(() => undefined), signal);
    expect(await highest(pricesOver({ [ONE]: at(ONE, 50n), [TWO]: hangs }), ONE)).toBe(2500);
  });

  test("of a pegged token is one dollar, and of one without pools none", async () => {
    expect(await highest(pricesOver({}), ONE, "USDT")).toBe(1);
    expect(await highest(pricesOver({}), ONE)).toBeNull();
  });
});

test.each([
  ["1", "1"],
  ["2998.5", "2998.5"],
  ["2998.123456789", "2998.123456"],
  ["0.000012345678", "0.0000123456"],
  ["0.000000000000000001", "0.000000000000000001"],
  ["0", "0"],
])("a price of %s dollars is written %s", (usd, text) => {
  expect(formatUsd(parseUsd(usd))).toBe(text);
});

test("a fee in dollars is rounded up in the token", () => {
  expect(usdToTokenCeil(parseUsd("0.05"), parseUsd("1"), 6)).toBe(50_000n);
  expect(usdToTokenCeil(parseUsd("1"), parseUsd("3"), 6)).toBe(333_334n);
  expect(usdToTokenCeil(parseUsd("0"), parseUsd("3"), 18)).toBe(0n);
});
