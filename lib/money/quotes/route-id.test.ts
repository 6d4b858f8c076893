import { describe, expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import type { Route, RouteLeg } from "@/lib/money/ports/routing";
import { chooseRoute, routeIdOf } from "./request";

const token = (symbol: string): Token => ({
  ...{
    symbol,
    name: symbol,
    chainId: 1,
    decimals: 6,
    assetId: symbol.toLowerCase(),
    usdPegged: false,
  },
  address: `0x${symbol.charCodeAt(0).toString(16).padStart(40, "0")}`,
});

const leg = (outBase: bigint, over: Partial<RouteLeg> = {}): RouteLeg => ({
  ...{
    provider: "onchain",
    sourceIndex: 0,
    kind: "swap",
    fees: [],
    estimatedSeconds: 1,
    priceImpactBps: 0,
    plan: null,
  },
  ...{ expectedOutBase: outBase, minOutBase: outBase },
  steps: [
    {
      ...{ kind: "swap", venue: "Uniswap v3", from: token("A"), to: token("B") },
      ...{ amountInBase: 5n, amountOutBase: outBase },
    },
  ],
  ...over,
});

const routeBy = (way: string, outBase: bigint): Route => ({ legs: [leg(outBase, { way })] });

describe("the id of a route", () => {
  test("is the same at another price, and another one for other pools, providers, and ways of one of the sources", () => {
    const id = routeIdOf(routeBy("A → B 0.05 %", 100n));
    expect(id).toMatch(/^rt_[0-9a-f]{24}$/);
    expect(routeIdOf(routeBy("A → B 0.05 %", 99n))).toBe(id);
    const others = [
      routeBy("A → B 0.3 %", 100n),
      { legs: [leg(100n, { way: "A → B 0.05 %", provider: "other" })] },
      { legs: [leg(100n, { way: "A → B 0.05 %" }), leg(1n, { sourceIndex: 1 })] },
    ];
    expect(new Set([id, ...others.map(routeIdOf)]).size).toBe(4);
  });
});

describe("the route that is taken", () => {
  const [best, second, third] = [routeBy("x", 9n), routeBy("y", 8n), routeBy("z", 7n)];

  test("is the best one, or the one that the caller names; the others keep their order", () => {
    expect(chooseRoute({}, [best, second, third])).toEqual({
      route: best,
      others: [second, third],
    });
    expect(chooseRoute({ routeId: routeIdOf(third) }, [best, second, third])).toEqual({
      route: third,
      others: [best, second],
    });
  });

  test("is never another one than the one that was named", () => {
    const gone = { routeId: routeIdOf(third) };
    for (const routes of [[], [best, second]])
      expect(() => chooseRoute(gone, routes)).toThrow(
        expect.objectContaining({ code: "no_route" }) as Error,
      );
  });
});
