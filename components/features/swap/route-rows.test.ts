import { expect, test } from "vitest";
import { routeName, routeRows } from "./route-rows";

const step = (from: string, to: string, venue: string) =>
  ({ from: { symbol: from }, to: { symbol: to }, venue }) as never;
const alternative = (routeId: string, amount: string, steps: string[]) => ({
  routeId,
  label: steps[0] ?? "",
  amount,
  minAmount: amount,
  estimatedSeconds: 18,
  steps,
});
const quoteOf = (
  amount: string,
  alternatives: ReturnType<typeof alternative>[],
): Parameters<typeof routeRows>[0] => ({
  routeId: "rt_taken",
  to: { amount, minAmount: amount } as never,
  steps: [
    step("USDC", "USDC", "Across"),
    step("USDC", "WETH", "Uniswap v3"),
    step("USDC", "USDC", "Across"),
  ],
  estimatedSeconds: 4,
  alternatives,
});

test("the difference to the best is measured against the best route, and not against the taken one", () => {
  const rows = routeRows(
    quoteOf("99", [
      alternative("rt_best", "100", ["USDC → WETH 0.05 %, Uniswap v3"]),
      alternative("rt_least", "98.5", ["USDC → USDC, Across"]),
    ]),
  );
  expect(rows.map(({ routeId, behindBps }) => [routeId, behindBps])).toEqual([
    ["rt_best", 0],
    ["rt_taken", 100],
    ["rt_least", 150],
  ]);
  expect(rows.map(({ isBest }) => isBest)).toEqual([true, false, false]);
  expect(rows.map(({ isTaken }) => isTaken)).toEqual([false, true, false]);
});

test("a difference too small to show is not called none", () => {
  const [, second] = routeRows(quoteOf("100", [alternative("rt_2", "99.9999", ["A"])]));
  expect(second?.behindBps).toBe(1);
});

test("the taken route is the best among equal ones", () => {
  const [first, second] = routeRows(quoteOf("100.0", [alternative("rt_2", "100", ["A"])]));
  expect(first?.routeId).toBe("rt_taken");
  expect(second).toMatchObject({ behindBps: 0, isBest: false });
});

test("names say venues and pool fees, each step once", () => {
  expect(routeRows(quoteOf("1", []))[0]?.name).toBe("Across → Uniswap v3");
  expect(routeName(["USDC → WETH 0.05 %, Uniswap v3", "USDC → USDC, Across"])).toBe(
    "Uniswap v3 0.05 % → Across",
  );
  expect(
    routeName(["USDC → DAI, Uniswap v3", "DAI → DAI, Across", "DAI → WETH, Uniswap v3"]),
  ).toBe("Uniswap v3 → Across (DAI) → Uniswap v3");
  expect(routeName(["USDC → DAI 0.01 % → WETH 0.3 %, Uniswap v3"])).toBe(
    "Uniswap v3: USDC → DAI 0.01 % → WETH 0.3 %",
  );
  expect(routeName(["Anything else"])).toBe("Anything else");
});

test("a route keeps the name that it had while it was an alternative", () => {
  const names = new Map([["rt_taken", "Uniswap v3 0.3 %"]]);
  expect(routeRows(quoteOf("1", []), names)[0]?.name).toBe("Uniswap v3 0.3 %");
});
