import { DomainError, isDomainError } from "@/lib/core/errors";
import { lessBpsFloor, rescaleFloor } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { RouteFee, RouteLeg, RouteStep } from "@/lib/ports/routing";
import { needsHandler } from "./across";
import { createBridgeFee, type BridgeAsset, type Erc20 } from "./bridge-fee";
import { askChain, type OnchainDeps } from "./chain-access";
import { planToJson, PROVIDER_ID, type SwapPlan } from "./plan";
import type { PriceSource } from "./price";
import { asErc20, confirmationSeconds, planOf, sameToken, swapFee, SWAP_VENUE, type LegInput } from "./same-chain-legs";
import { shareOut } from "./split";
import { createTtlCache } from "./ttl-cache";
import type { SwapFinder, SwapQuote } from "./uniswap";

export const BRIDGE_VENUE = "Across";
const BPS = 10_000;

interface SourceSide {
  /** The deposited amount. */
  readonly deposited: bigint;
  readonly plan: SwapPlan | null;
  readonly quote: SwapQuote | null;
}

const isErc20 = (token: Token): token is Erc20 => token.address !== "native";

export const bridgeAssets = (
  { registry }: Pick<OnchainDeps, "registry">,
  fromChainId: number,
  toChainId: number,
): readonly BridgeAsset[] => {
  const carried = (chainId: number): readonly Erc20[] => {
    const symbols = new Set(registry.get(chainId).contracts.across?.tokens);
    return registry
      .tokens(chainId)
      .filter(isErc20)
      .filter(({ symbol }) => symbols.has(symbol));
  };
  const there = new Map(carried(toChainId).map((token) => [token.assetId, token]));
  return carried(fromChainId).flatMap((input) => {
    const output = there.get(input.assetId);
    return output === undefined ? [] : [{ input, output }];
  });
};

/** 1 − (1 − a)(1 − b), in whole basis points, rounded up. */
const compoundBps = (a: number, b: number): number => a + b - Math.floor((a * b) / BPS);

interface Failure {
  readonly error: Error;
  /** Of a way without swaps, whose error says why the bridge itself refuses. */
  readonly isDirect: boolean;
}

/** Picks the most informative error: an unreachable chain, then the bridge's own, then low liquidity, then no route. */
const worstOf = (failures: readonly Failure[]): Error | undefined => {
  const withCode = (code: string) => failures.find(({ error }) => isDomainError(error) && error.code === code);
  const direct = failures.find(({ isDirect }) => isDirect);
  return (withCode("chain_unavailable") ?? direct ?? withCode("insufficient_liquidity") ?? failures[0])?.error;
};

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

const wishOf = (from: Erc20, to: Erc20, amountIn: bigint) => ({
  chainId: from.chainId,
  tokenIn: from.address.toLowerCase(),
  tokenOut: to.address.toLowerCase(),
  amountIn,
});

/** Dependencies that the steps share: the prices, pools and block heights cached by one provider. */
interface BridgeParts extends OnchainDeps {
  readonly finder: SwapFinder;
  readonly deliveredOf: ReturnType<typeof createBridgeFee>;
  /** The latest block of a chain. */
  readonly heights: { get(chainId: number, signal: AbortSignal): Promise<bigint> };
}

/** Whether the fill carries calls: for a swap there, or because the recipient wants the coin or its wrapped form. */
const hasMessage = ({ registry }: OnchainDeps, { request }: LegInput, { output }: BridgeAsset, swaps: boolean) =>
  needsHandler({
    swaps,
    toNative: request.destination.token.address === "native",
    bridgeToken: output.address,
    wrappedNative: registry.get(output.chainId).contracts.wrappedNative,
  });

/** A route with two swaps is never better than one with none, so we do not query the quoter for it. */
const swapsBy = (parts: BridgeParts, { source, request }: LegInput, { input, output }: BridgeAsset): number =>
  Number(!sameToken(asErc20(parts, source.token), input)) +
  Number(!sameToken(asErc20(parts, request.destination.token), output));

/** Estimates without querying the quoter, to decide which bridged tokens are worth quoting. */
const estimate = async (
  parts: BridgeParts,
  input: LegInput,
  asset: BridgeAsset,
  signal: AbortSignal,
): Promise<bigint> => {
  const from = asErc20(parts, input.source.token);
  const to = asErc20(parts, input.request.destination.token);
  const { amountBase } = input.source;
  const bought = sameToken(from, asset.input)
    ? amountBase
    : await parts.finder.estimate(wishOf(from, asset.input, amountBase), signal);
  if (bought === 0n) return 0n;
  const swaps = !sameToken(asset.output, to);
  const deposited = { asset, amount: bought, hasMessage: hasMessage(parts, input, asset, swaps) };
  const arrived = await parts.deliveredOf(deposited, signal).catch(() => 0n);
  return !swaps || arrived === 0n ? arrived : await parts.finder.estimate(wishOf(asset.output, to, arrived), signal);
};

/**
 * The deposit amount is fixed before the swap that pays for it: it is the quoted amount less a small part of the
 * tolerance. The swap buys exactly that amount, and the unused rest of the source's amount stays in the wallet.
 */
const sourceSide = async (
  parts: BridgeParts,
  input: LegInput,
  asset: BridgeAsset,
  signal: AbortSignal,
): Promise<SourceSide> => {
  const { source, request } = input;
  const from = asErc20(parts, source.token);
  if (sameToken(from, asset.input)) return { deposited: source.amountBase, plan: null, quote: null };
  const [quote] = await parts.finder.find(wishOf(from, asset.input, source.amountBase), signal);
  if (quote === undefined)
    throw new DomainError(
      "no_route",
      "There is no swap to a token that the bridge carries. Nothing was sent; choose another token or chain.",
    );
  const toleranceBps = Math.min(Math.floor(request.slippageBps / 2), parts.tuning.sourceToleranceMaxBps);
  const deposited = lessBpsFloor(quote.amountOut, toleranceBps);
  const bought = shareOut(
    deposited,
    quote.shares.map(({ amountOut }) => amountOut),
  );
  const plan = planOf(quote);
  const shares = plan.shares.map((share, index) => ({ ...share, amountOut: bought[index] ?? 0n }));
  return { deposited, quote, plan: { shares } };
};

const legBy = async (
  parts: BridgeParts,
  input: LegInput,
  asset: BridgeAsset,
  signal: AbortSignal,
): Promise<RouteLeg> => {
  const { source, request, sourceIndex } = input;
  const to = request.destination.token;
  const height = parts.heights.get(to.chainId, signal);
  // The promise is awaited below. This empty handler prevents an unhandled rejection if the code between throws first.
  height.catch(() => undefined);
  const side = await sourceSide(parts, input, asset, signal);
  const erc20Out = asErc20(parts, to);
  const swapsThere = !sameToken(asset.output, erc20Out);
  const outputAmount = await parts.deliveredOf(
    { asset, amount: side.deposited, hasMessage: hasMessage(parts, input, asset, swapsThere) },
    signal,
  );
  const there = swapsThere
    ? (await parts.finder.find(wishOf(asset.output, erc20Out, outputAmount), signal))[0]
    : undefined;
  const expectedOutBase = there?.amountOut ?? outputAmount;
  // Without swaps exactly the deposit's output amount arrives. The fee of a pegged token moves only with the steps of the gas's
  // worth; that of another token moves with its price too, so a quote of it promises less than it expects.
  const exact = side.quote === null && !swapsThere && asset.input.usdPegged;
  const chain = parts.registry.get(source.token.chainId);
  return {
    provider: PROVIDER_ID,
    sourceIndex,
    kind: "bridge",
    expectedOutBase,
    minOutBase: exact ? expectedOutBase : lessBpsFloor(expectedOutBase, request.slippageBps),
    steps: stepsOf(input, asset, {
      deposited: side.deposited,
      outputAmount,
      expectedOutBase,
      swapsHere: side.quote !== null,
      swapsThere,
    }),
    fees: feesOf(input, asset, { side, outputAmount, there }),
    estimatedSeconds: confirmationSeconds(parts, chain.id) + (chain.contracts.across?.typicalFillSeconds ?? 0),
    priceImpactBps: compoundBps(side.quote?.impactBps ?? 0, there?.impactBps ?? 0),
    plan: planToJson({
      kind: "bridge",
      inputToken: asset.input.address,
      outputToken: asset.output.address,
      inputAmount: side.deposited,
      outputAmount,
      sourceSwap: side.plan,
      destinationSwap: there === undefined ? null : planOf(there),
      destinationBlock: await height,
    }),
  };
};

/** Legs of one source that cross to another chain, best first: one per bridged token. */
export const createBridgeLegs = (deps: OnchainDeps, finder: SwapFinder, prices: PriceSource) => {
  const { registry, clock, tuning } = deps;
  const heights = createTtlCache({
    clock,
    ttlMs: tuning.blockNumberTtlMs,
    load: (chainId: number) =>
      askChain(deps, chainId, new AbortController().signal, (client) => client.getBlockNumber({ cacheTime: 0 })),
  });
  const parts: BridgeParts = { ...deps, finder, heights, deliveredOf: createBridgeFee(deps, prices) };

  return async (input: LegInput, signal: AbortSignal): Promise<readonly RouteLeg[]> => {
    const [from, to] = [input.source.token.chainId, input.request.destination.token.chainId];
    const assets = bridgeAssets(deps, from, to);
    const none = new DomainError(
      "no_route",
      `Nothing leads from ${input.source.token.symbol} on ${registry.get(from).name} to ` +
        `${input.request.destination.token.symbol} on ${registry.get(to).name}.`,
    );
    const estimates = await Promise.all(
      assets.map(async (asset) => ({ asset, out: await estimate(parts, input, asset, signal) })),
    );
    const fewestSwaps = Math.min(...assets.map((asset) => swapsBy(parts, input, asset)));
    const ranked = estimates
      .filter(({ asset, out }) => out > 0n && swapsBy(parts, input, asset) <= fewestSwaps + 1)
      .sort((a, b) => (a.out < b.out ? 1 : -1));
    // When no estimate is positive the quoter is asked anyway, because its error explains why; so is always the way without swaps.
    const best = (ranked.length > 0 ? ranked : estimates).slice(0, tuning.bridgeAssetsMax);
    const isDirect = (asset: BridgeAsset): boolean => swapsBy(parts, input, asset) === 0;
    const asked = [...new Set([...best, ...estimates.filter(({ asset }) => isDirect(asset))])];
    const answers = await Promise.allSettled(asked.map(({ asset }) => legBy(parts, input, asset, signal)));
    signal.throwIfAborted();
    const legs = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    if (legs.length > 0) return legs.sort((a, b) => (a.expectedOutBase < b.expectedOutBase ? 1 : -1));
    const failures = answers.flatMap((answer, index) => {
      const asset = asked[index]?.asset;
      if (answer.status === "fulfilled" || asset === undefined) return [];
      return [{ error: asError(answer.reason), isDirect: isDirect(asset) }];
    });
    throw worstOf(failures) ?? none;
  };
};

interface Amounts {
  readonly deposited: bigint;
  readonly outputAmount: bigint;
  readonly expectedOutBase: bigint;
  readonly swapsHere: boolean;
  readonly swapsThere: boolean;
}

const stepsOf = ({ source, request }: LegInput, asset: BridgeAsset, amounts: Amounts): readonly RouteStep[] => {
  const to = request.destination.token;
  const steps: RouteStep[] = [];
  if (amounts.swapsHere) {
    steps.push({
      kind: "swap",
      venue: SWAP_VENUE,
      from: source.token,
      to: asset.input,
      amountInBase: source.amountBase,
      amountOutBase: amounts.deposited,
    });
  }
  steps.push({
    kind: "bridge",
    venue: BRIDGE_VENUE,
    from: amounts.swapsHere ? asset.input : source.token,
    to: amounts.swapsThere ? asset.output : to,
    amountInBase: amounts.deposited,
    amountOutBase: amounts.outputAmount,
  });
  if (amounts.swapsThere) {
    steps.push({
      kind: "swap",
      venue: SWAP_VENUE,
      from: asset.output,
      to,
      amountInBase: amounts.outputAmount,
      amountOutBase: amounts.expectedOutBase,
    });
  }
  return steps;
};

interface Kept {
  readonly side: SourceSide;
  readonly outputAmount: bigint;
  readonly there: SwapQuote | undefined;
}

const feesOf = ({ source }: LegInput, asset: BridgeAsset, { side, outputAmount, there }: Kept): readonly RouteFee[] => {
  const arrivedInInput = rescaleFloor(outputAmount, asset.output.decimals, asset.input.decimals);
  return [
    ...(side.quote === null ? [] : [swapFee(side.quote, source.token)]),
    { kind: "bridge" as const, token: asset.input, amountBase: side.deposited - arrivedInInput },
    ...(there === undefined ? [] : [swapFee(there, asset.output)]),
  ];
};
