import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  disjoint,
  disjointSet,
  estimateOut,
  findPaths,
  impactBps,
  isRoundedAway,
  type Pool,
  rankPaths,
  spotOutScaled,
} from "./pool-book";

const Q96 = 2n ** 96n;
const pool = (
  address: string,
  token0: string,
  token1: string,
  liquidity: bigint,
  fee = 3000,
): Pool => ({
  address,
  token0,
  token1,
  fee,
  sqrtPriceX96: Q96,
  liquidity,
});
const BOUNDS = { hopsMax: 3, poolsPerPairMax: 3, pathsMax: 600 };
const TOKENS = ["a", "b", "c", "d", "e"] as const;

const anyPools = fc
  .array(
    fc.record({
      ends: fc.uniqueArray(fc.constantFrom(...TOKENS), { minLength: 2, maxLength: 2 }),
      fee: fc.constantFrom(100, 500, 3000),
      liquidity: fc.bigInt({ min: 0n, max: 10n ** 24n }),
    }),
    { maxLength: 20 },
  )
  .map((drafts) =>
    drafts.map(({ ends, fee, liquidity }, index) => {
      const [token0 = "a", token1 = "b"] = ends.toSorted();
      return pool(`p${index}`, token0, token1, liquidity, fee);
    }),
  );

describe("findPaths", () => {
  test("finds the direct way and the ways round", () => {
    const pools = [
      pool("ab", "a", "b", 10n),
      pool("bc", "b", "c", 10n),
      pool("ac", "a", "c", 10n),
    ];
    const paths = findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "c" });
    expect(paths.map((path) => path.map((hop) => hop.pool.address))).toEqual([
      ["ac"],
      ["ab", "bc"],
    ]);
  });

  test("every path is connected, visits no token twice, keeps the bounds and uses pools with depth", () => {
    fc.assert(
      fc.property(anyPools, (pools) => {
        const paths = findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "b" });
        for (const path of paths) {
          const visited = ["a", ...path.map((hop) => hop.tokenOut)];
          expect(new Set(visited).size).toBe(visited.length);
          expect(path.at(0)?.tokenIn).toBe("a");
          expect(path.at(-1)?.tokenOut).toBe("b");
          expect(path.length).toBeLessThanOrEqual(BOUNDS.hopsMax);
          expect(path.every((hop) => hop.pool.liquidity > 0n)).toBe(true);
          path
            .slice(1)
            .forEach((hop, index) => expect(hop.tokenIn).toBe(path[index]?.tokenOut));
        }
        expect(paths.length).toBeLessThanOrEqual(BOUNDS.pathsMax);
      }),
    );
  });

  test("of many pools between two tokens only the deepest are searched", () => {
    const pools = [1n, 5n, 3n, 4n, 2n].map((liquidity) =>
      pool(`p${liquidity}`, "a", "b", liquidity),
    );
    const paths = findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "b" });
    expect(paths.map(([hop]) => hop?.pool.address)).toEqual(["p5", "p4", "p3"]);
  });
});

test("a set of disjoint paths shares no pool", () => {
  fc.assert(
    fc.property(anyPools, (pools) => {
      const chosen = disjointSet(
        findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "b" }),
        4,
      );
      const used = chosen.flatMap((path) => path.map((hop) => hop.pool.address));
      expect(new Set(used).size).toBe(used.length);
      expect(
        chosen.every((path, i) => chosen.every((other, j) => i === j || disjoint(path, other))),
      ).toBe(true);
    }),
  );
});

test("the ranking puts the best estimate first and keeps room for a path that shares no pool with it", () => {
  const pools = [
    pool("ab1", "a", "b", 10n ** 24n, 100),
    pool("bd", "b", "d", 10n ** 24n, 100),
    pool("bc", "b", "c", 10n ** 23n, 100),
    pool("cd", "c", "d", 10n ** 23n, 100),
    pool("ad", "a", "d", 10n ** 19n, 3000),
  ];
  const paths = findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "d" });
  const ranked = rankPaths(paths, 10n ** 20n, 2);
  expect(ranked.map((path) => path.map((hop) => hop.pool.address))).toEqual([
    ["ab1", "bd"],
    ["ad"],
  ]);
});

test("an estimate never exceeds the spot price, and the impact of a vanishing trade is zero", () => {
  fc.assert(
    fc.property(anyPools, fc.bigInt({ min: 1n, max: 10n ** 22n }), (pools, amountIn) => {
      for (const path of findPaths({ ...BOUNDS, pools, tokenIn: "a", tokenOut: "b" })) {
        const out = estimateOut(path, amountIn);
        const spot = spotOutScaled(path, amountIn);
        expect(out * 10n ** 18n <= spot + 10n ** 18n * 4n).toBe(true);
        expect(impactBps(spot, out)).toBeGreaterThanOrEqual(0);
      }
    }),
  );
  const [path] = findPaths({
    ...BOUNDS,
    pools: [pool("ab", "a", "b", 10n ** 30n)],
    tokenIn: "a",
    tokenOut: "b",
  });
  expect(path).toBeDefined();
  if (path !== undefined)
    expect(
      impactBps(spotOutScaled(path, 10n ** 9n), estimateOut(path, 10n ** 9n)),
    ).toBeLessThanOrEqual(1);
});

test("an amount is too small where rounding alone may take more than the limit, however deep the pools are", () => {
  for (const liquidity of [10n ** 6n, 10n ** 30n]) {
    const [path = []] = findPaths({
      ...BOUNDS,
      pools: [pool("ab", "a", "b", liquidity)],
      tokenIn: "a",
      tokenOut: "b",
    });
    expect(
      [1n, 5n, 100n, 10n ** 20n].map((amount) => isRoundedAway(path, amount, 1_500)),
    ).toEqual([true, true, false, false]);
  }
});
