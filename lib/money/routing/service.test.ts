import { beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { createFakeRouting } from "@/lib/money/ports/fakes/routing";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteLeg, RoutingProvider } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { createSecondRouting } from "@/lib/dev/testing/second-routing";
import { createRoutingService } from "./service";

const OWNER: EvmAddress = "0x00000000000000000000000000000000000000a1";
const [ONE, TWO] = [1, 2];

const usdc = (chainId: number): Token => ({
  symbol: "USDC",
  name: "USDC",
  chainId,
  address: `0x${"0c".repeat(20)}`,
  decimals: 6,
  assetId: "usdc",
  usdPegged: true,
});

const request: RouteRequest = {
  sources: [ONE, TWO].map((chainId) => ({
    owner: OWNER,
    token: usdc(chainId),
    amountBase: 1_000_000n,
  })),
  destination: { token: usdc(TWO), recipient: OWNER },
  slippageBps: 50,
};

const never = (): AbortSignal => new AbortController().signal;
const warn = vi.fn();
beforeEach(() => warn.mockClear());

const fake = () => createFakeRouting({ clock: systemClock });
/**
 * A second provider that offers one base unit more than the fake, but only for sources on the
 * second chain.
 */
const better = () =>
  createSecondRouting({ id: "second", inner: fake(), bonusBase: 1n, chainIds: [TWO] });
const routingOver = (...providers: readonly RoutingProvider[]) =>
  createRoutingService(providers, { warn });
const failing = (error: Error): RoutingProvider => ({
  ...better(),
  quote: () => Promise.reject(error),
});

const bestLegs = async (
  ...providers: readonly RoutingProvider[]
): Promise<readonly RouteLeg[]> => {
  const [best] = await routingOver(...providers).quote(request, never());
  return best?.legs ?? [];
};
const providersOf = (legs: readonly RouteLeg[]): string[] =>
  legs.map(({ provider }) => provider);

test("each source goes over the provider that brings most for it", async () => {
  const legs = await bestLegs(fake(), better());
  expect(providersOf(legs)).toEqual(["fake", "second"]);
  expect(legs.map(({ sourceIndex }) => sourceIndex)).toEqual([0, 1]);
});

test("of two equal offers the earlier provider's is taken, and the other one is an alternative", async () => {
  const equal = createSecondRouting({ id: "second", inner: fake() });
  const routes = await routingOver(equal, fake()).quote(request, never());
  expect(routes.map(({ legs }) => providersOf(legs))).toEqual([
    ["second", "second"],
    ["fake", "fake"],
  ]);
});

test.each([
  ["refuses", new DomainError("no_route", "Not by me.")],
  ["cannot reach its chain", new DomainError("chain_unavailable", "No answer.")],
  ["has a bug", new TypeError("undefined is not a function")],
])("a provider that %s does not stop the other one", async (_, error) => {
  expect(providersOf(await bestLegs(failing(error), fake()))).toEqual(["fake", "fake"]);
  // A refusal is a normal answer; any other error is logged for the operator.
  expect(warn).toHaveBeenCalledTimes(error instanceof DomainError ? 0 : 2);
});

test("a provider that does not answer in time is left out", async () => {
  const timeout = vi
    .spyOn(AbortSignal, "timeout")
    .mockReturnValue(AbortSignal.abort(new Error("too late")));
  const silent: RoutingProvider = { ...better(), quote: () => new Promise(() => undefined) };
  const asked = routingOver(silent, fake()).quote(request, never());
  await expect(asked).rejects.toThrow("too late");
  timeout
    .mockReturnValueOnce(AbortSignal.abort(new Error("too late")))
    .mockReturnValue(never());
  const [best] = await routingOver(silent, fake()).quote(
    { ...request, sources: request.sources.slice(0, 1) },
    never(),
  );
  expect(providersOf(best?.legs ?? [])).toEqual(["fake"]);
  timeout.mockRestore();
});

test("when every provider refuses, the refusal that tells most is passed on", async () => {
  const shallow = failing(new DomainError("insufficient_liquidity", "Too much."));
  const none = { ...failing(new DomainError("no_route", "Not by me.")), id: "third" };
  await expect(bestLegs(none, shallow)).rejects.toMatchObject({
    code: "insufficient_liquidity",
  });
});

test("a leg is built and read by the provider that it names, whose plan no other one understands", async () => {
  const [inner, other] = [fake(), fake()];
  const second = createSecondRouting({ id: "second", inner, bonusBase: 1n });
  const routing = routingOver(other, second);
  const [best] = await routing.quote(request, never());
  const [leg] = best?.legs ?? [];
  if (leg === undefined) throw new Error("Nothing was offered.");
  expect(leg).toMatchObject({ provider: "second", plan: { second: { fake: true } } });
  const { calls } = await routing.build(request, leg, never());
  const receipt = inner.mine(request, leg, calls);
  const { deposit } = routing.readSource(request, leg, receipt);
  expect(await routing.track(request, leg, deposit, never())).toEqual({ state: "waiting" });
});

test("a leg whose provider is not configured any more is refused, so that it is tried again once it is", async () => {
  const [leg] = await bestLegs(fake());
  if (leg === undefined) throw new Error("Nothing was offered.");
  const gone = { ...leg, provider: "gone" };
  const refusal = {
    code: "provider_error",
    message: expect.stringContaining(
      'The routing provider "gone" of this leg is not configured.',
    ) as string,
  };
  await expect(routingOver(fake()).build(request, gone, never())).rejects.toMatchObject(
    refusal,
  );
  await expect(routingOver(fake()).track(request, gone, null, never())).rejects.toMatchObject(
    refusal,
  );
});

test("a cap is weighed at the highest price of any provider, and a display price is the first that is known", async () => {
  const token = { ...usdc(ONE), usdPegged: false, assetId: "weth" };
  const priced = (id: string, usd: bigint): RoutingProvider => ({
    ...createFakeRouting({ clock: systemClock, usdByAsset: { weth: usd } }),
    id,
  });
  const routing = routingOver(fake(), priced("low", 9n), priced("high", 10n));
  expect(await routing.priceUsd([token], never())).toEqual(["9"]);
  expect(await routing.highestPriceUsd([token], never())).toEqual(["10"]);
});

test("two providers of one name are refused at start", () => {
  expect(() => routingOver(fake(), fake())).toThrow("same id");
});
