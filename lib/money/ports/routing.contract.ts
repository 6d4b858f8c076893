import { describe, expect, test, vi } from "vitest";
import { type ErrorCode, isDomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type {
  BridgeProgress,
  Route,
  RouteLeg,
  RoutingProvider,
  SourceReceipt,
} from "./routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { Call, EvmAddress } from "@/lib/core/evm";

/** A provider under test, with requests and actions on its chains. */
export interface RoutingWorld {
  readonly provider: RoutingProvider;
  readonly requests: {
    readonly transfer: RouteRequest;
    readonly sameChainSwap: RouteRequest;
    readonly bridge: RouteRequest;
    /** Moves money from two chains into another token on a third chain. */
    readonly twoSources: RouteRequest;
    readonly tooLarge: RouteRequest;
    readonly unroutable: RouteRequest;
  };
  /** A token with a market price, not pegged to the dollar. */
  readonly priced: Token;
  /** A token without any price. */
  readonly unpriced: Token;
  /** Executes the calls as the source's wallet, and returns the logs of the transaction. */
  execute(request: RouteRequest, leg: RouteLeg, calls: readonly Call[]): Promise<SourceReceipt>;
  /**
   * The balance in base units, read without the provider; null when this set-up has no balances.
   */
  balanceOf(token: Token, owner: EvmAddress): Promise<bigint | null>;
  /** Sets whether relayers fill deposits from now on. At the start of the tests they do not. */
  fillDeposits(fill: boolean): void | Promise<void>;
  /** Makes a relayer fill this deposit, where relayers fill only on request. */
  fill(deposit: unknown): void | Promise<void>;
  /** Advances the chain's time past the deadline of a deposit, which is in Unix seconds. */
  passDeadline(fillDeadline: number): void | Promise<void>;
  /** Makes the bridge refund an expired deposit. */
  refund(deposit: unknown): void | Promise<void>;
}

const WAIT = { timeout: 30_000, interval: 100 };
const never = (): AbortSignal => new AbortController().signal;

const bestOf = (routes: readonly Route[]): Route => {
  const [best] = routes;
  if (best === undefined) throw new Error("A quote without routes.");
  return best;
};
const onlyLeg = (route: Route): RouteLeg => {
  const [leg] = route.legs;
  if (leg === undefined) throw new Error("A route without legs.");
  return leg;
};
const codeOf = async (promise: Promise<unknown>): Promise<ErrorCode | "no error" | "other"> =>
  promise.then(
    () => "no error",
    (error: unknown) => (isDomainError(error) ? error.code : "other"),
  );

/** The leg with its plan after a round trip through JSON, as the database returns it. */
const stored = (leg: RouteLeg): RouteLeg => ({
  ...leg,
  plan: JSON.parse(JSON.stringify(leg.plan)) as unknown,
});

/** Called once in each test. */
type World = () => RoutingWorld;

const start = async (world: World, request: RouteRequest) => {
  const { provider, execute } = world();
  const leg = stored(onlyLeg(bestOf(await provider.quote(request, never()))));
  const transactions = await provider.build(request, leg, never());
  const receipt = await execute(request, leg, transactions.calls);
  const outcome = provider.readSource(request, leg, receipt);
  const deposit: unknown = JSON.parse(JSON.stringify(outcome.deposit));
  return { leg, ...transactions, ...outcome, deposit };
};

const balances = async (world: World, request: RouteRequest) => {
  const [source] = request.sources;
  if (source === undefined) throw new Error("A request without sources.");
  const { token, recipient } = request.destination;
  return {
    source: await world().balanceOf(source.token, source.owner),
    recipient: await world().balanceOf(token, recipient),
  };
};
const expectChange = (before: bigint | null, after: bigint | null, change: bigint): void => {
  if (before !== null && after !== null) expect(after - before).toBe(change);
};

const trackUntil = (
  world: World,
  request: RouteRequest,
  leg: RouteLeg,
  deposit: unknown,
  state: BridgeProgress["state"],
): Promise<BridgeProgress> =>
  vi.waitFor(async () => {
    const progress = await world().provider.track(request, leg, deposit, never());
    expect(progress.state).toBe(state);
    return progress;
  }, WAIT);

const quoteTests = (world: World): void => {
  test("a leg calls the provider's contracts and tokens alone, so that none of these is taken for a recipient", async () => {
    const { provider, requests } = world();
    for (const request of [requests.sameChainSwap, requests.bridge]) {
      const [{ legs } = { legs: [] }] = await provider.quote(request, never());
      for (const leg of legs) {
        const token = request.sources[leg.sourceIndex]?.token;
        const called = (await provider.build(request, leg, never())).calls.map(({ to }) =>
          to.toLowerCase(),
        );
        const own = provider
          .contracts(token?.chainId ?? 0)
          .map((address) => address.toLowerCase());
        expect(own).toEqual(
          expect.arrayContaining(called.filter((to) => to !== token?.address.toLowerCase())),
        );
        expect(called.some((to) => own.includes(to))).toBe(true);
      }
    }
  });

  test("a quote has a leg for every source, lists the best route first, and keeps minimum amounts within the slippage", async () => {
    const { provider, requests } = world();
    for (const request of [
      requests.transfer,
      requests.sameChainSwap,
      requests.bridge,
      requests.twoSources,
    ]) {
      const routes = await provider.quote(request, never());
      const received = routes.map(({ legs }) =>
        legs.reduce((sum, leg) => sum + leg.expectedOutBase, 0n),
      );
      expect(received).toEqual(received.toSorted((a, b) => (a < b ? 1 : -1)));
      expect(routes.length).toBeLessThanOrEqual(4);
      for (const route of routes) {
        expect(route.legs.map((leg) => leg.sourceIndex)).toEqual(
          request.sources.map((_, index) => index),
        );
        for (const leg of route.legs) {
          expect(leg.provider).toBe(provider.id);
          expect(leg.minOutBase).toBeGreaterThan(0n);
          expect(leg.minOutBase).toBeLessThanOrEqual(leg.expectedOutBase);
          const floor = (leg.expectedOutBase * BigInt(10_000 - request.slippageBps)) / 10_000n;
          expect(leg.minOutBase).toBeGreaterThanOrEqual(floor);
          expect(leg.steps.length).toBeGreaterThan(0);
          expect(leg.estimatedSeconds).toBeGreaterThan(0);
          expect(JSON.parse(JSON.stringify(leg.plan))).toEqual(leg.plan);
        }
      }
    }
  });
};

const sameChainTests = (world: World): void => {
  test.each(["transfer", "sameChainSwap"] as const)(
    "the reported amounts of a %s match the balances",
    async (kind) => {
      const request = world().requests[kind];
      const before = await balances(world, request);
      const { leg, fillDeadline, spentBase, receivedBase, deposit, depositedBase } =
        await start(world, request);
      const after = await balances(world, request);
      expect(fillDeadline).toBeNull();
      expect(deposit).toBeNull();
      expect(depositedBase).toBeNull();
      expect(spentBase).toBe(request.sources[0]?.amountBase);
      expect(receivedBase).toBeGreaterThanOrEqual(leg.minOutBase);
      expectChange(before.source, after.source, -spentBase);
      expectChange(before.recipient, after.recipient, receivedBase ?? 0n);
    },
  );
};

const bridgeTests = (world: World): void => {
  test("a bridge leg waits until it is filled, and its reported amounts match the balances", async () => {
    const { requests, fillDeposits, fill } = world();
    const request = requests.bridge;
    await fillDeposits(false);
    const before = await balances(world, request);
    const { leg, deposit, depositedBase, fillDeadline, spentBase, receivedBase } = await start(
      world,
      request,
    );
    expect(spentBase).toBe(request.sources[0]?.amountBase);
    expect(depositedBase).toBeGreaterThan(0n);
    expect(fillDeadline).toBeGreaterThan(0);
    expect(receivedBase).toBeNull();
    await trackUntil(world, request, leg, deposit, "waiting");
    await fillDeposits(true);
    await fill(deposit);
    const filled = await trackUntil(world, request, leg, deposit, "filled");
    const after = await balances(world, request);
    if (filled.state !== "filled") throw new Error("Not filled.");
    expect(filled.chainId).toBe(request.destination.token.chainId);
    expect(filled.receivedBase).toBeGreaterThanOrEqual(leg.minOutBase);
    expectChange(before.source, after.source, -spentBase);
    expectChange(before.recipient, after.recipient, filled.receivedBase);
  });

  test("a deposit that nobody fills expires and is refunded to its wallet", async () => {
    const { requests, fillDeposits, passDeadline, refund, balanceOf } = world();
    const request = requests.bridge;
    const owner = request.sources[0]?.owner ?? "0x";
    await fillDeposits(false);
    const { leg, deposit, depositedBase, fillDeadline } = await start(world, request);
    await passDeadline(fillDeadline ?? 0);
    const before = await balances(world, request);
    await trackUntil(world, request, leg, deposit, "expired");
    await refund(deposit);
    const refunded = await trackUntil(world, request, leg, deposit, "refunded");
    if (refunded.state !== "refunded") throw new Error("Not refunded.");
    expect(refunded.refundedBase).toBe(depositedBase);
    expect(refunded.chainId).toBe(refunded.token.chainId);
    expect(refunded.paidBase).toBeGreaterThanOrEqual(refunded.refundedBase);
    const { txHash, logIndex, paidBase, refundedBase } = refunded;
    const { provider } = world();
    expect(await provider.refundsIn(request, leg, deposit, { txHash }, never())).toEqual([
      expect.objectContaining({ txHash, logIndex, paidBase, refundedBase }),
    ]);
    const other = `0x${"ab".repeat(32)}` as const;
    expect(await provider.refundsIn(request, leg, deposit, { txHash: other }, never())).toEqual(
      [],
    );
    if (refunded.token.address === request.sources[0]?.token.address) {
      expectChange(
        before.source,
        await balanceOf(refunded.token, owner),
        refunded.refundedBase,
      );
    }
    await fillDeposits(true);
  });
};

const refusalTests = (world: World): void => {
  test("a request without a route, or above the liquidity, is refused with its own error code", async () => {
    const { provider, requests } = world();
    expect(await codeOf(provider.quote(requests.unroutable, never()))).toBe("no_route");
    expect(await codeOf(provider.quote(requests.tooLarge, never()))).toBe(
      "insufficient_liquidity",
    );
  });

  test("an aborted call ends at once", async () => {
    const { provider, requests } = world();
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(provider.quote(requests.bridge, aborted)).rejects.toThrow("enough");
    await expect(provider.priceUsd([world().priced], aborted)).rejects.toThrow("enough");
  });

  test("prices are dollars for pegged tokens, decimal strings for others, and null where unknown", async () => {
    const { provider, requests, priced, unpriced } = world();
    const pegged = requests.bridge.sources[0]?.token;
    if (pegged === undefined) throw new Error("A request without sources.");
    const [one, some, none] = await provider.priceUsd([pegged, priced, unpriced], never());
    expect(one).toBe("1");
    expect(some).toMatch(/^\d+(\.\d+)?$/);
    expect(none).toBeNull();
    const highest = await provider.highestPriceUsd([pegged, priced, unpriced], never());
    expect([highest[0], highest[2]]).toEqual(["1", null]);
    expect(Number(highest[1])).toBeGreaterThanOrEqual(Number(some));
  });
};

/** Contract tests that every routing provider must pass. */
export const routingContract = (name: string, world: World): void => {
  describe(`${name} keeps the promises of the routing port`, () => {
    quoteTests(world);
    sameChainTests(world);
    bridgeTests(world);
    refusalTests(world);
  });
};
