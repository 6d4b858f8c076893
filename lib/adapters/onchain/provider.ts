import type { ChainConfig } from "@/lib/platform/config/chains";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import type { EvmAddress } from "@/lib/core/evm";
import type { Route, RouteLeg, RoutingProvider } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { createBridgeLegs } from "./bridge-legs";
import { createLegCalls } from "./leg-calls";
import { parseDeposit, PROVIDER_ID } from "./plan";
import { createPoolBook } from "./pool-book";
import { createRefundReader } from "./refund-leaves";
import { createPriceSource, formatUsd, type UsdScaled } from "./price";
import { createSourceReader } from "./receipts";
import { createSameChainLegs } from "./same-chain-legs";
import { createTracker } from "./track";
import { DEFAULT_TUNING, type Tuning } from "./chain-access";
import { createSwapFinder } from "./uniswap";

interface OnchainRoutingOptions {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly config?: Partial<Tuning>;
}

const routesOf = (
  legsPerSource: readonly (readonly RouteLeg[])[],
  tuning: Tuning,
): readonly Route[] => {
  const ways = Math.min(
    Math.max(...legsPerSource.map((legs) => legs.length)),
    1 + tuning.alternativesMax,
  );
  const routes = Array.from({ length: ways }, (_, way): Route => ({
    legs: legsPerSource.flatMap((legs) => legs[way] ?? legs.slice(0, 1)),
  }));
  const received = ({ legs }: Route): bigint =>
    legs.reduce((sum, leg) => sum + leg.expectedOutBase, 0n);
  const best = routes[0] === undefined ? 0n : received(routes[0]);
  return routes
    .filter(
      (route, index) =>
        index === 0 || received(route) * 10_000n >= best * BigInt(tuning.alternativeFloorBps),
    )
    .sort((a, b) => (received(a) < received(b) ? 1 : received(a) > received(b) ? -1 : 0));
};

/**
 * Finds routes only by on-chain reads: Uniswap v3 on one chain, Across between chains. Needs only
 * RPC endpoints and has no state except caches. Each source is quoted independently.
 */
export const createOnchainRouting = ({
  registry,
  clock,
  config = {},
}: OnchainRoutingOptions): RoutingProvider => {
  const tuning: Tuning = { ...DEFAULT_TUNING, ...config };
  const deps = { registry, clock, tuning };
  const book = createPoolBook(deps);
  const finder = createSwapFinder(deps, book);
  const prices = createPriceSource(deps, book);
  const sameChainLegs = createSameChainLegs(deps, finder);
  const bridgeLegs = createBridgeLegs(deps, finder, prices);
  const legCalls = createLegCalls(deps);
  const readSource = createSourceReader(deps);
  const track = createTracker(deps);
  const readRefunds = createRefundReader(deps);

  const legsOf = (
    request: RouteRequest,
    sourceIndex: number,
    signal: AbortSignal,
  ): Promise<readonly RouteLeg[]> => {
    const source = request.sources[sourceIndex];
    if (source === undefined)
      throw new RangeError(`There is no source ${sourceIndex} in this request.`);
    const stays = source.token.chainId === request.destination.token.chainId;
    return (stays ? sameChainLegs : bridgeLegs)({ request, sourceIndex, source }, signal);
  };

  return {
    id: PROVIDER_ID,
    quote: async (request, signal) =>
      routesOf(
        await Promise.all(request.sources.map((_, index) => legsOf(request, index, signal))),
        tuning,
      ),
    build: legCalls,
    readSource,
    track: (request, _leg, deposit, signal, options) =>
      track(request, parseDeposit(deposit), signal, options),
    refundsIn: (_request, _leg, deposit, named, signal) =>
      readRefunds(parseDeposit(deposit), named, signal),
    contracts: (chainId) => contractsOf(registry.get(chainId)),
    priceUsd: (tokens, signal) =>
      Promise.all(tokens.map(async (token) => written(await prices.usd(token, signal)))),
    highestPriceUsd: (tokens, signal) =>
      Promise.all(tokens.map(async (token) => written(await prices.highestUsd(token, signal)))),
  };
};

const contractsOf = ({
  contracts: { uniswapV3, across },
}: Pick<ChainConfig, "contracts">): readonly EvmAddress[] =>
  [
    uniswapV3?.factory,
    uniswapV3?.quoterV2,
    uniswapV3?.swapRouter02,
    across?.spokePool,
    across?.multicallHandler,
    across?.spokePoolPeriphery,
    across?.hub?.hubPool,
    across?.hub?.configStore,
  ].filter((address) => address !== undefined);

const written = (price: UsdScaled | null): string | null =>
  price === null ? null : formatUsd(price);
