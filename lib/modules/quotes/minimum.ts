import type { Route, RouteLeg } from "@/lib/ports/routing";

/** The margin above the promised minimum that a route must bring when it is priced again, so that a small move does not revert it. */
const TOLERANCE_MIN_BPS = 10;
const BPS = 10_000n;

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);

export const expectedOut = (route: Route): bigint => sum(route.legs.map((leg) => leg.expectedOutBase));
export const minimumOut = (route: Route): bigint => sum(route.legs.map((leg) => leg.minOutBase));

/** The room for a move of the price, rounded up; only legs whose result may still change need it. */
const toleranceOf = (route: Route, slippageBps: number): bigint => {
  // Who accepts less than 20 basis points of slippage cannot have 10 left; half of it is asked for then.
  const bps = BigInt(Math.min(TOLERANCE_MIN_BPS, Math.floor(slippageBps / 2)));
  const open = sum(route.legs.map((leg) => (leg.minOutBase < leg.expectedOutBase ? leg.expectedOutBase : 0n)));
  return (open * bps + BPS - 1n) / BPS;
};

/**
 * The same route with minima that sum to at least `minimumBase`, so that a new price keeps the promised minimum. Each
 * leg's share is rounded up and never above its expected output. Null when the route no longer reaches the minimum with
 * some tolerance left.
 */
export const withMinimum = (route: Route, minimumBase: bigint, slippageBps: number): Route | null => {
  const total = expectedOut(route);
  if (total === 0n || total - toleranceOf(route, slippageBps) < minimumBase) return null;
  const legs = route.legs.map((leg): RouteLeg => {
    const share = (minimumBase * leg.expectedOutBase + total - 1n) / total;
    return { ...leg, minOutBase: share > leg.minOutBase ? share : leg.minOutBase };
  });
  return { ...route, legs };
};
