import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, vi } from "vitest";
import type { Token } from "@/lib/core/token";
import type { BridgeProgress, EvmAddress, RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";
import type { LocalRouting } from "./routing-world";

const WAIT = { timeout: 30_000, interval: 100 };
export const never = (): AbortSignal => new AbortController().signal;
export const newAddress = (): EvmAddress => privateKeyToAddress(generatePrivateKey());

interface Journey {
  readonly from: Token;
  readonly to: Token;
  /** A decimal string in units of the token. */
  readonly amount: string;
  readonly slippageBps?: number;
  readonly recipient?: EvmAddress;
}

/** A request with one source wallet that no other test uses. */
export const requestOf = ({ from, to, amount, slippageBps = 50, recipient = newAddress() }: Journey): RouteRequest => ({
  sources: [{ owner: newAddress(), token: from, amountBase: parseUnits(amount, from.decimals) }],
  destination: { token: to, recipient },
  slippageBps,
});

export const sourceOf = (request: RouteRequest) => {
  const [source] = request.sources;
  if (source === undefined) throw new Error("A request without sources.");
  return source;
};

/** Carries single legs over local chains. `world` is asked for at each call, because tests start it in a hook. */
export const routeJourneys = (world: () => LocalRouting) => {
  const bestLeg = async (request: RouteRequest, provider: RoutingProvider = world().provider): Promise<RouteLeg> => {
    const leg = (await provider.quote(request, never()))[0]?.legs[0];
    if (leg === undefined) throw new Error("A quote without legs.");
    return leg;
  };

  /** Funds the source, quotes, builds, sends, and reads what happened. */
  const start = async (request: RouteRequest, provider: RoutingProvider = world().provider) => {
    const local = world();
    const source = sourceOf(request);
    await local.give(source.owner, source.token, source.amountBase);
    const leg = await bestLeg(request, provider);
    const { calls, fillDeadline } = await provider.build(request, leg, never());
    const before = await local.balanceOf(source.token, source.owner);
    const receipt = await local.execute(request, leg, calls);
    const gasWei = source.token.address === "native" ? receipt.gasWei : 0n;
    const gone = before - (await local.balanceOf(source.token, source.owner)) - gasWei;
    return { leg, calls, fillDeadline: fillDeadline ?? 0, gone, ...provider.readSource(request, leg, receipt) };
  };

  const trackUntil = (
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

  return { bestLeg, start, trackUntil };
};
