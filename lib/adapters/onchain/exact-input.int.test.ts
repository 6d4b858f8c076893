/**
 * Exact input means the whole amount, even when a swap before the bridge buys more or less than it
 * was quoted.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import {
  contractsOf,
  requestOf,
  routeJourneys,
  sourceOf,
} from "@/lib/dev/testing/route-journeys";
import { startLocalRouting, type LocalRouting } from "@/lib/dev/testing/routing-world";
import { type BridgePlan, parseDeposit, parsePlan, planToJson } from "./plan";

const [ONE, TWO] = [31337, 31338] as const;
let local: LocalRouting;
beforeAll(async () => {
  local = await startLocalRouting();
});
afterAll(async () => local.stop());

const token = (chainId: number, symbol: string): Token =>
  local.registry.resolveToken(chainId, symbol);

const { start, trackUntil, bridgeOf, expectNothingLeft, allowance } = routeJourneys(
  () => local,
);

const planOf = (leg: RouteLeg): BridgePlan => {
  const plan = parsePlan(leg.plan);
  if (plan.kind !== "bridge") throw new Error("A bridge leg is expected.");
  return plan;
};

/**
 * The leg as it would have been quoted if the source's swap had bought this many basis points more.
 */
const quotedWith =
  (moreBps: bigint) =>
  (leg: RouteLeg): Promise<RouteLeg> => {
    const then = (amount: bigint): bigint => (amount * (10_000n + moreBps)) / 10_000n;
    const plan = planOf(leg);
    const amounts = {
      inputAmount: then(plan.inputAmount),
      outputAmount: then(plan.outputAmount),
    };
    const destinationSwap = plan.destinationSwap && {
      shares: plan.destinationSwap.shares.map((share) => ({
        ...share,
        amountIn: then(share.amountIn),
      })),
    };
    const [swap, ...steps] = leg.steps;
    if (swap?.kind !== "swap") throw new Error("A leg that swaps first is expected.");
    return Promise.resolve({
      ...leg,
      expectedOutBase: then(leg.expectedOutBase),
      steps: [
        swap,
        ...steps.map((step) => ({ ...step, amountInBase: then(step.amountInBase) })),
      ],
      plan: planToJson({ ...plan, ...amounts, destinationSwap }),
    });
  };

/** Half of the tolerance for the swap on the source, and twice the tolerance. */
const [WITHIN_BPS, BEYOND_BPS] = [5n, 20n];

/**
 * Follows a deposit to its fill, and checks that everything that was bought arrived and nothing
 * stayed in a contract.
 */
const expectWhole = async (request: RouteRequest, done: Awaited<ReturnType<typeof start>>) => {
  const { source, destination } = { source: sourceOf(request), ...request };
  const filled = await trackUntil(request, done.leg, done.deposit, "filled");
  if (filled.state !== "filled") throw new Error("Not filled.");
  expect(done.spentBase).toBe(source.amountBase);
  expect(done.gone).toBe(source.amountBase);
  expect(filled.receivedBase).toBe(
    await local.balanceOf(destination.token, destination.recipient),
  );
  expect(filled.receivedBase).toBeGreaterThanOrEqual(done.leg.minOutBase);
  // The bridged token differs from the requested one.
  const { symbol } = destination.token;
  for (const other of ["USDC", "WETH", "USDT"].filter((each) => each !== symbol))
    expect(
      await local.balanceOf(token(destination.token.chainId, other), destination.recipient),
    ).toBe(0n);
  for (const bought of ["USDC", "WETH"].filter((each) => each !== source.token.symbol))
    expect(await local.balanceOf(token(ONE, bought), source.owner)).toBe(0n);
  await expectNothingLeft(source.token.chainId);
  await expectNothingLeft(destination.token.chainId);
  return { received: filled.receivedBase, deposit: parseDeposit(done.deposit) };
};

test.each([0, 50])(
  "swaps on both sides spend the whole amount, and leave no allowance and nothing behind (slippage %i)",
  async (slippageBps) => {
    for (const from of [token(ONE, "DAI"), token(ONE, "native")]) {
      const amount = from.address === "native" ? "2" : "5000";
      const request = requestOf({ from, to: token(TWO, "USDT"), amount, slippageBps });
      const done = await start(request, bridgeOf("USDC"));
      expect(done.leg.steps.map(({ kind }) => kind)).toEqual(["swap", "bridge", "swap"]);
      const { received, deposit } = await expectWhole(request, done);
      expect(received).toBe(done.leg.expectedOutBase);
      expect(deposit.inputAmount).toBe(done.leg.steps[1]?.amountInBase);
      expect(deposit.outputAmount).toBe(done.leg.steps[1]?.amountOutBase);
      const { owner } = sourceOf(request);
      const { router, spokePool, periphery } = contractsOf(local.registry, ONE);
      for (const spender of [router, periphery])
        if (from.address !== "native") expect(await allowance(from, owner, spender)).toBe(0n);
      expect(await allowance(token(ONE, "USDC"), owner, spokePool)).toBe(0n);
    }
  },
);

/**
 * Routes from `from` on one chain over the bridged token to `to` on another. Large amounts are
 * split over pools.
 */
const WAYS = [
  { from: "WETH", bridged: "USDC", to: "USDC", amount: "3", isSplit: false },
  { from: "WETH", bridged: "USDC", to: "USDT", amount: "3", isSplit: false },
  { from: "native", bridged: "USDC", to: "native", amount: "3", isSplit: false },
  { from: "USDC", bridged: "WETH", to: "native", amount: "9000", isSplit: false },
  { from: "USDC", bridged: "WETH", to: "WETH", amount: "9000", isSplit: false },
  { from: "USDT", bridged: "USDC", to: "WETH", amount: "3000000", isSplit: true },
  { from: "USDT", bridged: "USDC", to: "native", amount: "3000000", isSplit: true },
] as const;

describe.each(WAYS)(
  "$amount $from over bridged $bridged to $to",
  ({ from, bridged, to, amount, isSplit }) => {
    const newRequest = () => requestOf({ from: token(ONE, from), to: token(TWO, to), amount });

    test("a better price at the source makes the deposit larger, and all of it arrives", async () => {
      const request = newRequest();
      const done = await start(request, bridgeOf(bridged), quotedWith(-WITHIN_BPS));
      expect((planOf(done.leg).destinationSwap?.shares.length ?? 1) > 1).toBe(isSplit);
      const { received, deposit } = await expectWhole(request, done);
      expect(deposit.inputAmount).toBeGreaterThan(done.leg.steps[1]?.amountInBase ?? 0n);
      expect(received).toBeGreaterThan(done.leg.expectedOutBase);
    });

    test("a slightly worse price makes it smaller, and the minimum arrives", async () => {
      const request = newRequest();
      const done = await start(request, bridgeOf(bridged), quotedWith(WITHIN_BPS));
      const { received, deposit } = await expectWhole(request, done);
      expect(deposit.inputAmount).toBeLessThan(done.leg.steps[1]?.amountInBase ?? 0n);
      expect(received).toBeLessThan(done.leg.expectedOutBase);
    });

    test("a price beyond the tolerance reverts, and the source keeps everything", async () => {
      const request = newRequest();
      const { owner, token: paid, amountBase } = sourceOf(request);
      await expect(start(request, bridgeOf(bridged), quotedWith(BEYOND_BPS))).rejects.toThrow(
        "reverted",
      );
      if (paid.address !== "native")
        expect(await local.balanceOf(paid, owner)).toBe(amountBase);
      expect(await local.balanceOf(token(ONE, bridged), owner)).toBe(0n);
      await expectNothingLeft(ONE);
    });
  },
);

test("a minimum that was raised since the quote is what the swap has to bring, or it reverts", async () => {
  const request = requestOf({ from: token(ONE, "WETH"), to: token(TWO, "USDC"), amount: "3" });
  const raised = (beyond: bigint) => (leg: RouteLeg) =>
    Promise.resolve({ ...leg, minOutBase: leg.expectedOutBase - 2n + beyond });
  const done = await start(request, bridgeOf("USDC"), raised(0n));
  expect(planOf(done.leg).outputAmount).toBeLessThan(done.leg.minOutBase);
  await expectWhole(request, done);
  await expect(start(request, bridgeOf("USDC"), raised(1_000n))).rejects.toThrow("reverted");
});

test("a deposit that a better price made larger is refunded whole to the wallet, in the bridged token", async () => {
  const request = requestOf({ from: token(ONE, "WETH"), to: token(TWO, "USDC"), amount: "3" });
  const { owner } = sourceOf(request);
  local.solver.pause();
  const done = await start(request, bridgeOf("USDC"), quotedWith(-WITHIN_BPS));
  expect(done.depositedBase).toBeGreaterThan(done.leg.steps[1]?.amountInBase ?? 0n);
  await local.passTime(done.fillDeadline);
  await trackUntil(request, done.leg, done.deposit, "expired");
  local.solver.resume();
  const refunded = await trackUntil(request, done.leg, done.deposit, "refunded");
  expect(refunded).toMatchObject({
    refundedBase: done.depositedBase,
    token: token(ONE, "USDC"),
  });
  expect(await local.balanceOf(token(ONE, "USDC"), owner)).toBe(done.depositedBase);
});
