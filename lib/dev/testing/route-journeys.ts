import { erc20Abi, parseAbi, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, vi } from "vitest";
import type { Token } from "@/lib/core/token";
import type { BridgeProgress, RouteLeg, RoutingProvider } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { EvmAddress } from "@/lib/core/evm";
import type { LocalRouting } from "./routing-world";

const WAIT = { timeout: 30_000, interval: 100 };
export const never = (): AbortSignal => new AbortController().signal;
export const newAddress = (): EvmAddress => privateKeyToAddress(generatePrivateKey());

interface Journey {
  readonly from: Token;
  readonly to: Token;
  /** A decimal string in whole units of the token. */
  readonly amount: string;
  readonly slippageBps?: number;
  readonly recipient?: EvmAddress;
}

/** A request with one source wallet that no other test uses. */
export const requestOf = ({
  from,
  to,
  amount,
  slippageBps = 50,
  recipient = newAddress(),
}: Journey): RouteRequest => ({
  sources: [
    { owner: newAddress(), token: from, amountBase: parseUnits(amount, from.decimals) },
  ],
  destination: { token: to, recipient },
  slippageBps,
});

export const sourceOf = (request: RouteRequest) => {
  const [source] = request.sources;
  if (source === undefined) throw new Error("A request without sources.");
  return source;
};

/** The contracts of Uniswap and Across on a local chain. */
export const contractsOf = (registry: LocalRouting["registry"], chainId: number) => {
  const { uniswapV3, across } = registry.get(chainId).contracts;
  if (uniswapV3 === undefined || across === undefined)
    throw new Error("The local chains have both.");
  return {
    router: uniswapV3.swapRouter02,
    spokePool: across.spokePool,
    handler: across.multicallHandler,
    periphery: across.spokePoolPeriphery,
  };
};

/**
 * Executes single legs on local chains. `world` is called each time, because tests start it in a
 * hook.
 */
export const routeJourneys = (world: () => LocalRouting) => {
  const bestLeg = async (
    request: RouteRequest,
    provider: RoutingProvider = world().provider,
  ): Promise<RouteLeg> => {
    const leg = (await provider.quote(request, never()))[0]?.legs[0];
    if (leg === undefined) throw new Error("A quote without legs.");
    return leg;
  };

  /**
   * Funds the source, quotes, builds, sends, and reads the result. `afterQuote` gets the quoted
   * leg, and returns the leg to build.
   */
  const start = async (
    request: RouteRequest,
    provider: RoutingProvider = world().provider,
    afterQuote: (leg: RouteLeg) => Promise<RouteLeg> = (leg) => Promise.resolve(leg),
  ) => {
    const local = world();
    const source = sourceOf(request);
    await local.give(source.owner, source.token, source.amountBase);
    const leg = await afterQuote(await bestLeg(request, provider));
    const { calls, fillDeadline } = await provider.build(request, leg, never());
    const before = await local.balanceOf(source.token, source.owner);
    const receipt = await local.execute(request, leg, calls);
    const gasWei = source.token.address === "native" ? receipt.gasWei : 0n;
    const gone = before - (await local.balanceOf(source.token, source.owner)) - gasWei;
    return {
      leg,
      calls,
      fillDeadline: fillDeadline ?? 0,
      gone,
      ...provider.readSource(request, leg, receipt),
    };
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

  /** A provider whose bridge carries only one token. */
  const bridgeOf = (symbol: string): RoutingProvider =>
    world().variant((chain) => ({
      ...chain,
      contracts: {
        ...chain.contracts,
        ...(chain.contracts.across
          ? { across: { ...chain.contracts.across, tokens: [symbol] } }
          : {}),
      },
    })).provider;

  /**
   * Checks that the contracts of Uniswap and Across hold no tokens. Anybody can empty these
   * contracts, so they must not keep a user's money.
   */
  const expectNothingLeft = async (chainId: number): Promise<void> => {
    const { registry, balanceOf } = world();
    const { router, handler, periphery } = contractsOf(registry, chainId);
    const swapProxy = await registry.client(chainId).readContract({
      address: periphery,
      abi: parseAbi(["function swapProxy() view returns (address)"]),
      functionName: "swapProxy",
    });
    for (const holder of [router, handler, periphery, swapProxy]) {
      for (const listed of registry.tokens(chainId).filter(({ symbol }) => symbol !== "ODD")) {
        expect([listed.symbol, await balanceOf(listed, holder)]).toEqual([listed.symbol, 0n]);
      }
    }
  };

  const allowance = (owned: Token, owner: EvmAddress, spender: EvmAddress): Promise<bigint> =>
    world()
      .registry.client(owned.chainId)
      .readContract({
        address: owned.address === "native" ? "0x" : owned.address,
        abi: erc20Abi,
        functionName: "allowance",
        args: [owner, spender],
      });

  return { bestLeg, start, trackUntil, bridgeOf, expectNothingLeft, allowance };
};
