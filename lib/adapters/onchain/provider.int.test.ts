import {
  encodeFunctionData,
  erc20Abi,
  maxUint256,
  parseAbi,
  parseEther,
  parseUnits,
} from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/core/route-request";
import { routingContract } from "@/lib/money/ports/routing.contract";
import { startLocalRouting, type LocalRouting } from "@/lib/dev/testing/routing-world";
import {
  contractsOf,
  never,
  newAddress,
  requestOf,
  routeJourneys,
  sourceOf,
} from "@/lib/dev/testing/route-journeys";
import { createOnchainRouting } from "./provider";

const [ONE, TWO, THREE] = [31337, 31338, 31339] as const;
let local: LocalRouting;
beforeAll(async () => {
  local = await startLocalRouting();
});
afterAll(async () => local.stop());

const token = (chainId: number, symbol: string): Token =>
  local.registry.resolveToken(chainId, symbol);

const { bestLeg, start, trackUntil, bridgeOf, expectNothingLeft, allowance } = routeJourneys(
  () => local,
);

describe("the port's contract", () => {
  const [owner, recipient] = [newAddress(), newAddress()];
  const request = (
    from: readonly (readonly [number, string])[],
    to: readonly [number, string],
    amount = "1000",
  ) => ({
    sources: from.map(([chainId, symbol]) => {
      const sold = token(chainId, symbol);
      return { owner, token: sold, amountBase: parseUnits(amount, sold.decimals) };
    }),
    destination: { token: token(...to), recipient },
    slippageBps: 50,
  });
  beforeAll(async () => {
    for (const chainId of [ONE, TWO])
      await local.give(owner, token(chainId, "USDC"), parseUnits("100000", 6));
  });

  routingContract("onchain", () => ({
    provider: local.provider,
    requests: {
      transfer: request([[ONE, "USDC"]], [ONE, "USDC"]),
      sameChainSwap: request([[ONE, "USDC"]], [ONE, "WETH"]),
      bridge: request([[ONE, "USDC"]], [TWO, "USDC"]),
      // oxfmt-ignore
      twoSources: request([[ONE, "USDC"], [TWO, "USDC"]], [THREE, "WETH"]),
      tooLarge: request([[ONE, "USDC"]], [TWO, "WETH"], "900000000"),
      unroutable: request([[ONE, "USDC"]], [TWO, "ODD"]),
    },
    priced: token(ONE, "WETH"),
    unpriced: token(ONE, "ODD"),
    execute: local.execute,
    balanceOf: local.balanceOf,
    fillDeposits: (fill) => {
      if (fill) local.solver.resume();
      else local.solver.pause();
    },
    fill: () => undefined,
    passDeadline: local.passTime,
    refund: () => {
      local.solver.resume();
    },
  }));
});

test.each([
  { from: [ONE, "USDC"], to: [TWO, "WETH"], amount: "2500" },
  { from: [ONE, "USDT"], to: [THREE, "native"], amount: "2500" },
  { from: [ONE, "native"], to: [TWO, "DAI"], amount: "1.5" },
  { from: [ONE, "native"], to: [TWO, "native"], amount: "0.75" },
  { from: [TWO, "WETH"], to: [THREE, "WETH"], amount: "0.75" },
  { from: [TWO, "native"], to: [ONE, "WETH"], amount: "0.75" },
  { from: [TWO, "DAI"], to: [ONE, "DAI"], amount: "10.000000000000000001" },
] as const)(
  "$amount $from.1 of $from.0 arrive as $to.1 on $to.0, to the last unit as told, at an account without code",
  async (way) => {
    const [from, to] = [token(way.from[0], way.from[1]), token(way.to[0], way.to[1])];
    const request = requestOf({ from, to, amount: way.amount });
    const { leg, deposit, gone, spentBase } = await start(request);
    const filled = await trackUntil(request, leg, deposit, "filled");
    if (filled.state !== "filled") throw new Error("Not filled.");
    expect(spentBase).toBe(gone);
    expect(filled.receivedBase).toBe(await local.balanceOf(to, request.destination.recipient));
    expect(filled.receivedBase).toBeGreaterThanOrEqual(leg.minOutBase);
    await expectNothingLeft(way.from[0]);
    await expectNothingLeft(way.to[0]);
  },
);

test("between two chains below the minimum nobody can fill, and the deposit is refunded", async () => {
  const request = requestOf({
    from: token(ONE, "USDC"),
    to: token(THREE, "WETH"),
    amount: "30000",
  });
  local.solver.pause();
  const { leg, deposit, fillDeadline, spentBase } = await start(request, bridgeOf("USDC"));
  expect(leg.steps.map(({ kind }) => kind)).toEqual(["bridge", "swap"]);
  // A large purchase on the destination moves the price beyond the tolerance.
  const whale = requestOf({
    from: token(THREE, "USDC"),
    to: token(THREE, "WETH"),
    amount: "4000000",
    slippageBps: 1000,
  });
  const bought = await start(whale);
  local.solver.resume();
  await local.passTime(fillDeadline - 3);
  await trackUntil(request, leg, deposit, "waiting");
  await local.passTime(fillDeadline);
  const refunded = await trackUntil(request, leg, deposit, "refunded");
  if (refunded.state !== "refunded") throw new Error("Not refunded.");
  expect(refunded).toMatchObject({
    chainId: ONE,
    refundedBase: spentBase,
    token: token(ONE, "USDC"),
  });
  const { owner } = sourceOf(request);
  expect(await local.balanceOf(token(ONE, "USDC"), owner)).toBe(spentBase);
  expect(await local.balanceOf(request.destination.token, request.destination.recipient)).toBe(
    0n,
  );
  // Restores the price for the other tests.
  await start(
    requestOf({
      from: token(THREE, "WETH"),
      to: token(THREE, "USDC"),
      amount: (Number(bought.receivedBase ?? 0n) / 1e18).toFixed(6),
      slippageBps: 1000,
    }),
  );
});

test("between two chains one refund is not told to another deposit of the same amount", async () => {
  const first = requestOf({ from: token(ONE, "USDC"), to: token(TWO, "USDC"), amount: "77" });
  local.solver.pause();
  const one = await start(first);
  const two = await start(first);
  await local.passTime(Math.max(one.fillDeadline, two.fillDeadline));
  await trackUntil(first, one.leg, one.deposit, "expired");
  await trackUntil(first, two.leg, two.deposit, "expired");
  local.solver.resume();
  const [a, b] = await Promise.all([
    trackUntil(first, one.leg, one.deposit, "refunded"),
    trackUntil(first, two.leg, two.deposit, "refunded"),
  ]);
  expect(await local.balanceOf(token(ONE, "USDC"), sourceOf(first).owner)).toBe(
    one.spentBase + two.spentBase,
  );
  for (const progress of [a, b])
    expect(progress).toMatchObject({ refundedBase: one.spentBase });
});

test("between two chains an invented relay with the deposit's number is not taken for its fill", async () => {
  const request = requestOf({
    from: token(ONE, "USDC"),
    to: token(TWO, "USDC"),
    amount: "500",
  });
  local.solver.pause();
  const { leg, deposit } = await start(request);
  const impostor = newAddress();
  const usdc = token(TWO, "USDC");
  await local.give(impostor, usdc, 10n);
  const { spokePool } = contractsOf(local.registry, TWO);
  const fillRelayAbi = parseAbi([
    "struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }",
    "function fillRelay(RelayData relayData, uint256 repaymentChainId, bytes32 repaymentAddress)",
  ]);
  const told = deposit as Record<string, string> & {
    fillDeadline: number;
    depositor: `0x${string}`;
  };
  const invented = {
    ...(told as unknown as Record<
      "recipient" | "exclusiveRelayer" | "inputToken" | "outputToken",
      `0x${string}`
    >),
    depositor: told.depositor,
    inputAmount: BigInt(told.inputAmount ?? 0),
    outputAmount: 1n,
    originChainId: BigInt(ONE),
    depositId: BigInt(told.depositId ?? 0),
    fillDeadline: told.fillDeadline,
    exclusivityDeadline: 0,
    message: "0x" as const,
  };
  const approve = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [spokePool, maxUint256],
  });
  const fill = encodeFunctionData({
    abi: fillRelayAbi,
    functionName: "fillRelay",
    args: [invented, BigInt(ONE), told.depositor],
  });
  await local.send(TWO, impostor, [
    { to: usdc.address === "native" ? "0x" : usdc.address, data: approve, value: 0n },
    { to: spokePool, data: fill, value: 0n },
  ]);
  expect(await local.provider.track(request, leg, deposit, never())).toEqual({
    state: "waiting",
  });
  local.solver.resume();
  const filled = await trackUntil(request, leg, deposit, "filled");
  expect(filled).toMatchObject({ receivedBase: leg.expectedOutBase });
});

describe("on one chain", () => {
  test.each([
    { from: "native", to: "USDC", amount: "1.5" },
    { from: "USDT", to: "native", amount: "3000" },
    { from: "native", to: "WETH", amount: "1.5" },
    { from: "WETH", to: "native", amount: "1.5" },
    { from: "native", to: "native", amount: "0.5" },
    { from: "DAI", to: "USDT", amount: "12.5" },
  ] as const)(
    "$amount $from arrive as $to, to the last unit as told",
    async ({ from, to, amount }) => {
      const request = requestOf({ from: token(ONE, from), to: token(ONE, to), amount });
      const { leg, gone, spentBase, receivedBase } = await start(request);
      expect(spentBase).toBe(gone);
      expect(spentBase).toBe(sourceOf(request).amountBase);
      expect(receivedBase).toBe(
        await local.balanceOf(request.destination.token, request.destination.recipient),
      );
      expect(receivedBase).toBeGreaterThanOrEqual(leg.minOutBase);
      await expectNothingLeft(ONE);
    },
  );

  test.each([
    ["native", "WETH", 1],
    ["WETH", "native", 2],
  ] as const)(
    "%s goes as %s to somebody else by one call beside its approval",
    async (from, to, calls) => {
      const request = requestOf({ from: token(ONE, from), to: token(ONE, to), amount: "1" });
      const built = await local.provider.build(request, await bestLeg(request), never());
      expect(built.calls).toHaveLength(calls);
    },
  );

  test("wrapping into one's own wallet is read from the wrapped coin's own events", async () => {
    const draft = requestOf({
      from: token(ONE, "native"),
      to: token(ONE, "WETH"),
      amount: "1",
    });
    const request = {
      ...draft,
      destination: { ...draft.destination, recipient: sourceOf(draft).owner },
    };
    const { spentBase, receivedBase } = await start(request);
    expect(spentBase).toBe(parseEther("1"));
    expect(receivedBase).toBe(
      await local.balanceOf(token(ONE, "WETH"), request.destination.recipient),
    );
  });

  test("a large trade is split over pools and brings more than the best single path, as quoted", async () => {
    const journey = { from: token(TWO, "USDC"), to: token(TWO, "WETH"), amount: "3000000" };
    const request = requestOf(journey);
    const leg = await bestLeg(request);
    const single = await bestSingle(request);
    expect(leg.expectedOutBase).toBeGreaterThan(single + single / 100n);
    const done = await start(request);
    expect(done.receivedBase).toBe(
      await local.balanceOf(request.destination.token, request.destination.recipient),
    );
    expect(done.receivedBase).toBeGreaterThanOrEqual(done.leg.expectedOutBase);
    expect(done.spentBase).toBe(sourceOf(request).amountBase);
  });

  test("a swap below its minimum reverts", async () => {
    const request = requestOf({
      from: token(TWO, "USDT"),
      to: token(TWO, "WETH"),
      amount: "1000",
    });
    const source = sourceOf(request);
    await local.give(source.owner, source.token, source.amountBase);
    const leg = await bestLeg(request);
    const greedy = { ...leg, minOutBase: leg.expectedOutBase + 1n };
    const { calls } = await local.provider.build(request, greedy, never());
    await expect(local.execute(request, greedy, calls)).rejects.toThrow();
    expect(await local.balanceOf(source.token, source.owner)).toBe(source.amountBase);
  });
});

test("without a router a coin is wrapped for the paying wallet alone", async () => {
  const get: typeof local.registry.get = (chainId) => {
    const chain = local.registry.get(chainId);
    return { ...chain, contracts: { ...chain.contracts, uniswapV3: undefined } };
  };
  const provider = createOnchainRouting({
    registry: { ...local.registry, get },
    clock: systemClock,
  });
  const request = requestOf({
    from: token(ONE, "native"),
    to: token(ONE, "WETH"),
    amount: "1",
  });
  await expect(bestLeg(request, provider)).rejects.toMatchObject({ code: "no_route" });
  const { owner } = sourceOf(request);
  const own = { ...request, destination: { ...request.destination, recipient: owner } };
  expect(await bestLeg(own, provider)).toMatchObject({ expectedOutBase: parseEther("1") });
});

/** The best output of an unsplit route: the same search with splits turned off. */
const bestSingle = async (request: RouteRequest): Promise<bigint> => {
  const provider = createOnchainRouting({
    registry: local.registry,
    clock: systemClock,
    config: { splitAboveImpactBps: 1_000_000, impactMaxBps: 10_000 },
  });
  return (await bestLeg(request, provider)).expectedOutBase;
};

test("an allowance that somebody left is taken back first", async () => {
  const request = requestOf({ from: token(ONE, "USDT"), to: token(ONE, "USDC"), amount: "10" });
  const { owner, token: sold, amountBase } = sourceOf(request);
  await local.give(owner, sold, amountBase);
  const { router } = contractsOf(local.registry, ONE);
  const left = encodeFunctionData({
    abi: erc20Abi,
    functionName: "approve",
    args: [router, 5n],
  });
  await local.send(ONE, owner, [
    { to: sold.address === "native" ? "0x" : sold.address, data: left, value: 0n },
  ]);
  const leg = await bestLeg(request);
  const { calls } = await local.provider.build(request, leg, never());
  expect(calls).toHaveLength(3);
  await local.execute(request, leg, calls);
  expect(await allowance(sold, owner, router)).toBe(0n);
});

test.each(["from", "to"] as const)("a dead chain (%s) is named as the reason", async (side) => {
  const dead = side === "from" ? ONE : TWO;
  const { provider } = local.variant((chain) =>
    chain.id === dead ? { ...chain, rpcUrls: ["http://127.0.0.1:9"] } : chain,
  );
  const request = requestOf({ from: token(ONE, "USDT"), to: token(TWO, "WETH"), amount: "10" });
  const error: unknown = await provider
    .quote(request, never())
    .catch((reason: unknown) => reason);
  expect(isDomainError(error) && error.code).toBe("chain_unavailable");
});

test("an amount that the bridge's fee would eat has no route", async () => {
  const request = requestOf({
    from: token(ONE, "USDC"),
    to: token(TWO, "USDC"),
    amount: "0.01",
  });
  const error: unknown = await local.provider
    .quote(request, never())
    .catch((reason: unknown) => reason);
  expect(isDomainError(error) && error.code).toBe("no_route");
});

test("the price of the chain's coin is that of its pools", async () => {
  const [eth, weth, usdt] = await local.provider.priceUsd(
    [token(TWO, "native"), token(TWO, "WETH"), token(TWO, "USDT")],
    never(),
  );
  expect(Number(eth)).toBeGreaterThan(2_800);
  expect(Number(eth)).toBeLessThan(3_200);
  expect(Number(weth)).toBeGreaterThan(2_800);
  expect(usdt).toBe("1");
});
