import { DomainError, isDomainError } from "@/lib/core/errors";
import { bpsOfCeil, lessBpsFloor, rescaleFloor } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { RouteFee, RouteLeg, RouteStep } from "@/lib/money/ports/routing";
import { needsHandler } from "./across";
import { type BridgeAsset, createBridgeFee, type Erc20, type PriceSource } from "./price";
import { askChain, createTtlCache, type OnchainDeps } from "./chain-access";
import { planToJson, PROVIDER_ID } from "./plan";
import {
  asErc20,
  confirmationSeconds,
  type LegInput,
  planOf,
  sameToken,
  SWAP_VENUE,
  swapFee,
} from "./same-chain-legs";
import type { SwapFinder, SwapQuote } from "./uniswap";

export const BRIDGE_VENUE = "Across";
const BPS = 10_000;

interface SourceSide {
  readonly deposited: bigint;
  /** The minimum that may be deposited. It is less than `deposited` only after a swap. */
  readonly depositedMin: bigint;
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

/**
 * The loss after a loss of `a` and a further loss of `b`, 1 − (1 − a)(1 − b), in whole basis
 * points, rounded up.
 */
const compoundBps = (a: number, b: number): number => a + b - Math.floor((a * b) / BPS);

interface Failure {
  readonly error: Error;
  /** True for a route without swaps, whose error is about the bridge itself. */
  readonly isDirect: boolean;
}

/**
 * Returns the most informative error of the failed routes. An unreachable chain comes first, then
 * an error of the bridge itself, then low liquidity, then a missing route.
 */
const worstOf = (failures: readonly Failure[]): Error | undefined => {
  const withCode = (code: string) =>
    failures.find(({ error }) => isDomainError(error) && error.code === code);
  const direct = failures.find(({ isDirect }) => isDirect);
  return (
    withCode("chain_unavailable") ??
    direct ??
    withCode("insufficient_liquidity") ??
    failures[0]
  )?.error;
};

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error(String(reason));

const wishOf = (from: Erc20, to: Erc20, amountIn: bigint) => ({
  chainId: from.chainId,
  tokenIn: from.address.toLowerCase(),
  tokenOut: to.address.toLowerCase(),
  amountIn,
});

/**
 * The dependencies of all steps. They include the prices, pools and block heights that one provider
 * caches.
 */
interface BridgeParts extends OnchainDeps {
  readonly finder: SwapFinder;
  readonly deliveredOf: ReturnType<typeof createBridgeFee>;
  readonly heights: { get(chainId: number, signal: AbortSignal): Promise<bigint> };
}

/**
 * Whether the fill executes calls: for a swap on the destination, or because the recipient wants
 * the coin or its wrapped form.
 */
const hasMessage = (
  { registry }: OnchainDeps,
  { request }: LegInput,
  { output }: BridgeAsset,
  swaps: boolean,
) =>
  needsHandler({
    swaps,
    toNative: request.destination.token.address === "native",
    bridgeToken: output.address,
    wrappedNative: registry.get(output.chainId).contracts.wrappedNative,
  });

const swapsBy = (
  parts: BridgeParts,
  { source, request }: LegInput,
  { input, output }: BridgeAsset,
): number =>
  Number(!sameToken(asErc20(parts, source.token), input)) +
  Number(!sameToken(asErc20(parts, request.destination.token), output));

/** Estimates the output without the quoter, to decide which bridged tokens are worth quoting. */
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
  const deposited = {
    asset,
    amount: bought,
    hasMessage: hasMessage(parts, input, asset, swaps),
  };
  const arrived = await parts.deliveredOf(deposited, signal).catch(() => 0n);
  return !swaps || arrived === 0n
    ? arrived
    : await parts.finder.estimate(wishOf(asset.output, to, arrived), signal);
};

/**
 * The deposit of the source. If a swap is needed, the swap sells the source's whole amount, and
 * the swap's whole output is deposited. The swap may use only a small part of the slippage,
 * because a revert on the source costs little, but a fill that reverts on the destination costs
 * hours.
 */
const sourceSide = async (
  parts: BridgeParts,
  input: LegInput,
  asset: BridgeAsset,
  signal: AbortSignal,
): Promise<SourceSide> => {
  const { source, request } = input;
  const from = asErc20(parts, source.token);
  const { amountBase } = source;
  if (sameToken(from, asset.input))
    return { deposited: amountBase, depositedMin: amountBase, quote: null };
  const [quote] = await parts.finder.find(wishOf(from, asset.input, amountBase), signal);
  if (quote === undefined)
    throw new DomainError(
      "no_route",
      "There is no swap to a token that the bridge carries. Nothing was sent; choose another token or chain.",
    );
  const toleranceBps = Math.min(
    Math.floor(request.slippageBps / 2),
    parts.tuning.sourceToleranceMaxBps,
  );
  return {
    deposited: quote.amountOut,
    depositedMin: bpsOfCeil(quote.amountOut, BPS - toleranceBps),
    quote,
  };
};

/**
 * The outputs for the minimum deposit (rounded up, so that it is never 0) and for the expected
 * deposit, scaled as in the contract.
 */
const outputsOf = ({ deposited, depositedMin }: SourceSide, delivered: bigint) => {
  const outputMin = (delivered * depositedMin + deposited - 1n) / deposited;
  return { outputMin, output: (outputMin * deposited) / depositedMin };
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
  // Prevents an unhandled rejection if the code before the `await` below throws first.
  height.catch(() => undefined);
  const side = await sourceSide(parts, input, asset, signal);
  const erc20Out = asErc20(parts, to);
  const swapsThere = !sameToken(asset.output, erc20Out);
  const delivered = await parts.deliveredOf(
    { asset, amount: side.deposited, hasMessage: hasMessage(parts, input, asset, swapsThere) },
    signal,
  );
  const { output, outputMin } = outputsOf(side, delivered);
  const there = swapsThere
    ? (await parts.finder.find(wishOf(asset.output, erc20Out, output), signal))[0]
    : undefined;
  const expectedOutBase = there?.amountOut ?? output;
  // Without swaps, exactly the deposit's output amount arrives. The fee of a pegged token changes
  // only with the steps of the gas cost. The fee of another token also changes with its price, so
  // the minimum of its leg is below the expected output.
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
      output,
      expectedOutBase,
      swapsHere: side.quote !== null,
      swapsThere,
    }),
    fees: feesOf(input, asset, { side, output, there }),
    estimatedSeconds:
      confirmationSeconds(parts, chain.id) + (chain.contracts.across?.typicalFillSeconds ?? 0),
    priceImpactBps: compoundBps(side.quote?.impactBps ?? 0, there?.impactBps ?? 0),
    plan: planToJson({
      kind: "bridge",
      inputToken: asset.input.address,
      outputToken: asset.output.address,
      inputAmount: side.depositedMin,
      outputAmount: outputMin,
      sourceSwap: side.quote === null ? null : planOf(side.quote),
      destinationSwap: there === undefined ? null : planOf(there),
      destinationBlock: await height,
    }),
  };
};

/**
 * Returns a function that finds the bridge legs of one source: one for each bridged token that is
 * worth quoting, best first.
 */
export const createBridgeLegs = (
  deps: OnchainDeps,
  finder: SwapFinder,
  prices: PriceSource,
) => {
  const { registry, clock, tuning } = deps;
  const heights = createTtlCache({
    clock,
    ttlMs: tuning.blockNumberTtlMs,
    load: (chainId: number) =>
      askChain(deps, chainId, new AbortController().signal, (client) =>
        client.getBlockNumber({ cacheTime: 0 }),
      ),
  });
  const parts: BridgeParts = {
    ...deps,
    finder,
    heights,
    deliveredOf: createBridgeFee(deps, prices),
  };

  return async (input: LegInput, signal: AbortSignal): Promise<readonly RouteLeg[]> => {
    const [from, to] = [input.source.token.chainId, input.request.destination.token.chainId];
    const assets = bridgeAssets(deps, from, to);
    const none = new DomainError(
      "no_route",
      `No route leads from ${input.source.token.symbol} on ${registry.get(from).name} to ` +
        `${input.request.destination.token.symbol} on ${registry.get(to).name}. Nothing was sent; choose another token or chain.`,
    );
    const estimates = await Promise.all(
      assets.map(async (asset) => ({
        asset,
        out: await estimate(parts, input, asset, signal),
      })),
    );
    const fewestSwaps = Math.min(...assets.map((asset) => swapsBy(parts, input, asset)));
    const ranked = estimates
      .filter(({ asset, out }) => out > 0n && swapsBy(parts, input, asset) <= fewestSwaps + 1)
      .sort((a, b) => (a.out < b.out ? 1 : -1));
    // When no estimate is positive, the quoter is still queried, because its error explains why.
    // The route without swaps is always quoted.
    const best = (ranked.length > 0 ? ranked : estimates).slice(0, tuning.bridgeAssetsMax);
    const isDirect = (asset: BridgeAsset): boolean => swapsBy(parts, input, asset) === 0;
    const asked = [...new Set([...best, ...estimates.filter(({ asset }) => isDirect(asset))])];
    const answers = await Promise.allSettled(
      asked.map(({ asset }) => legBy(parts, input, asset, signal)),
    );
    signal.throwIfAborted();
    const legs = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? [answer.value] : [],
    );
    if (legs.length > 0)
      return legs.sort((a, b) => (a.expectedOutBase < b.expectedOutBase ? 1 : -1));
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
  readonly output: bigint;
  readonly expectedOutBase: bigint;
  readonly swapsHere: boolean;
  readonly swapsThere: boolean;
}

const stepsOf = (
  { source, request }: LegInput,
  asset: BridgeAsset,
  amounts: Amounts,
): readonly RouteStep[] => {
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
    amountOutBase: amounts.output,
  });
  if (amounts.swapsThere) {
    steps.push({
      kind: "swap",
      venue: SWAP_VENUE,
      from: asset.output,
      to,
      amountInBase: amounts.output,
      amountOutBase: amounts.expectedOutBase,
    });
  }
  return steps;
};

interface Kept {
  readonly side: SourceSide;
  readonly output: bigint;
  readonly there: SwapQuote | undefined;
}

const feesOf = (
  { source }: LegInput,
  asset: BridgeAsset,
  { side, output, there }: Kept,
): readonly RouteFee[] => {
  const arrivedInInput = rescaleFloor(output, asset.output.decimals, asset.input.decimals);
  return [
    ...(side.quote === null ? [] : [swapFee(side.quote, source.token)]),
    {
      kind: "bridge" as const,
      token: asset.input,
      amountBase: side.deposited - arrivedInInput,
    },
    ...(there === undefined ? [] : [swapFee(there, asset.output)]),
  ];
};
