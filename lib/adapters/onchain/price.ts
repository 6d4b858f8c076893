import type { Token } from "@/lib/core/token";
import { askChain, createTtlCache, type OnchainDeps } from "./chain-access";
import { estimateOut, findPaths, type PoolBook, spotOutScaled } from "./pool-book";
import { suggestFees } from "@/lib/chain/fees";
import { fillCostUsd, fillGasOf, relayerMarginUsd, steadyStep } from "@/lib/core/fees";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { DomainError } from "@/lib/core/errors";
import { formatAmount, rescaleFloor } from "@/lib/core/money";
import type { EvmAddress } from "@/lib/core/evm";

/** US dollars per whole token, times 10^18. */
export type UsdScaled = bigint;

const USD_DECIMALS = 18;
const USD_ONE = 10n ** BigInt(USD_DECIMALS);
const SPOT_SCALE_DECIMALS = 18n;
const SIGNIFICANT_FRACTION_DIGITS = 6;
/** Time limit of `highestUsd`. It is less than the 3 s for which callers wait. */
const HIGHEST_WAIT_MS = 2000;

/** Formats as in `"2998.5"`: at most six significant digits after the point, rounded down. */
export const formatUsd = (usd: UsdScaled): string => {
  const whole = usd / USD_ONE;
  const fraction = (usd % USD_ONE).toString().padStart(USD_DECIMALS, "0");
  const leadingZeros = whole === 0n ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const kept = fraction.slice(0, leadingZeros + SIGNIFICANT_FRACTION_DIGITS).replace(/0+$/, "");
  return kept === "" ? whole.toString() : `${whole}.${kept}`;
};

/** Converts US dollars to base units of a token, rounded up. */
export const usdToTokenCeil = (usd: UsdScaled, price: UsdScaled, decimals: number): bigint =>
  (usd * 10n ** BigInt(decimals) + price - 1n) / price;

export interface PriceSource {
  /**
   * The token's price; null when no pools connect it with a pegged token on any reachable chain.
   */
  usd(token: Token, signal: AbortSignal): Promise<UsdScaled | null>;
  /**
   * The highest price on the chains that list the asset and answer in time; null when there is no
   * price.
   */
  highestUsd(token: Token, signal: AbortSignal): Promise<UsdScaled | null>;
}

/**
 * Computes prices. Pegged tokens are worth one dollar by configuration. Other tokens have the mid
 * price, without fees, of the path that returns the most pegged tokens for one whole token. A thin
 * pool returns little, so it cannot determine the price.
 */
export const createPriceSource = (deps: OnchainDeps, book: PoolBook): PriceSource => {
  const { registry, clock, tuning } = deps;

  const onChain = async (token: Token, signal: AbortSignal): Promise<UsdScaled | null> => {
    const address =
      token.address === "native"
        ? registry.wrappedNative(token.chainId).address
        : token.address;
    const pools = await book.pools(token.chainId, signal);
    const one = 10n ** BigInt(token.decimals);
    let best: { readonly depth: bigint; readonly price: UsdScaled } | null = null;
    for (const pegged of registry.tokens(token.chainId)) {
      if (!pegged.usdPegged || pegged.address === "native") continue;
      const toUsd = (base: bigint): UsdScaled =>
        (base * USD_ONE) / 10n ** BigInt(pegged.decimals);
      const search = {
        ...tuning,
        pools,
        tokenIn: address.toLowerCase(),
        tokenOut: pegged.address.toLowerCase(),
      };
      for (const path of findPaths(search)) {
        const depth = toUsd(estimateOut(path, one));
        if (depth === 0n || (best !== null && depth <= best.depth)) continue;
        best = {
          depth,
          price: toUsd(spotOutScaled(path, one, false)) / 10n ** SPOT_SCALE_DECIMALS,
        };
      }
    }
    return best?.price ?? null;
  };

  const load = async (assetId: string): Promise<UsdScaled | null> => {
    const { signal } = new AbortController();
    const places = registry.tokens().filter((token) => token.assetId === assetId);
    // The first chain with a price wins, so that a hanging chain causes no delay.
    const asked = places.map(async (place) => {
      const price = await onChain(place, signal);
      if (price === null)
        throw new Error(`${place.symbol} has no price on chain ${place.chainId}.`);
      return price;
    });
    return await Promise.any(asked).catch(() => null);
  };
  const loadHighest = async (assetId: string): Promise<UsdScaled | null> => {
    const signal = AbortSignal.timeout(HIGHEST_WAIT_MS);
    const places = registry.tokens().filter((token) => token.assetId === assetId);
    // A chain that hangs or is unreachable counts as having no price.
    const answers = await Promise.all(
      places.map((place) =>
        place.usdPegged ? Promise.resolve(USD_ONE) : onChain(place, signal).catch(() => null),
      ),
    );
    return answers.reduce(
      (high, price) => (price !== null && (high === null || price > high) ? price : high),
      null,
    );
  };
  const prices = createTtlCache({ clock, ttlMs: tuning.priceTtlMs, load });
  const highest = createTtlCache({ clock, ttlMs: tuning.priceTtlMs, load: loadHighest });

  return {
    usd: async (token, signal) =>
      token.usdPegged ? USD_ONE : await prices.get(token.assetId, signal),
    highestUsd: async (token, signal) =>
      token.usdPegged ? USD_ONE : await highest.get(token.assetId, signal),
  };
};

// Computes the relayer's fee and the limits of a deposit from the configuration of the destination.

export type Erc20 = Token & { readonly address: EvmAddress };

/** A token that the bridge supports between two chains: the token on each chain. */
export interface BridgeAsset {
  readonly input: Erc20;
  readonly output: Erc20;
}

interface Deposited {
  readonly asset: BridgeAsset;
  /** In base units of the input token. */
  readonly amount: bigint;
  /** Whether the destination executes calls after the fill. The relayer pays for their gas. */
  readonly hasMessage: boolean;
}

const CENT = 10n ** 16n;
/** US dollars rounded up to a cent, so that a cost is never shown as 0. */
const cents = (usd: UsdScaled): string => formatUsd(((usd + CENT - 1n) / CENT) * CENT);

const unpriced = (token: Token): DomainError =>
  new DomainError(
    "no_route",
    `The bridge's fee cannot be computed, because ${token.symbol} has no price. Nothing was sent; try another token, or try again later.`,
  );

const requirePrice = async (
  prices: PriceSource,
  token: Token,
  signal: AbortSignal,
): Promise<UsdScaled> => {
  const price = await prices.usd(token, signal);
  if (price === null || price === 0n) throw unpriced(token);
  return price;
};

export const createBridgeFee = (deps: OnchainDeps, prices: PriceSource) => {
  const { registry, clock, tuning } = deps;
  const gasPrices = createTtlCache({
    clock,
    ttlMs: tuning.gasPriceTtlMs,
    load: async (chainId: number) =>
      (await askChain(deps, chainId, new AbortController().signal, suggestFees)).pricePerGas,
  });

  /**
   * For each destination chain, with and without a message, the current step of a fill's gas cost.
   * Each process has its own steps.
   */
  const steps = new Map<string, UsdScaled>();

  const acrossOf = (chainId: number) => {
    const { across } = registry.get(chainId).contracts;
    if (across === undefined)
      throw new DomainError("no_route", `No bridge leads to ${registry.get(chainId).name}.`);
    return across;
  };

  const requireWithinLimits = ({ asset: { input, output }, amount }: Deposited): void => {
    const { min, max } = acrossOf(output.chainId).limits[output.symbol] ?? {};
    const limit = (text: string, rounding: "ceil" | "floor") =>
      scaledTo(parseDecimal(text), input.decimals, rounding);
    const isLow = min !== undefined && amount < limit(min, "ceil");
    const isHigh = max !== undefined && amount > limit(max, "floor");
    if (!isLow && !isHigh) return;
    const bound = isLow ? `at least ${min}` : `at most ${String(max)}`;
    throw new DomainError(
      "no_route",
      `The bridge carries ${bound} ${input.symbol} at once to ${registry.get(output.chainId).name}, ` +
        `and this is ${formatAmount(amount, input.decimals)} ${input.symbol}. Nothing was sent; change the amount.`,
    );
  };

  /**
   * The relayer's fee in base units of the input token, rounded up: the gas cost on the destination
   * and the margin. The gas cost in dollars is rounded up to steps of about a quarter and keeps its
   * step near a border, so that small moves of the gas price or the coin's price do not change the
   * fee between quote and execution.
   */
  const feeOf = async (
    { asset: { input, output }, amount, hasMessage }: Deposited,
    signal: AbortSignal,
  ) => {
    const across = acrossOf(output.chainId);
    const [gasPriceWei, coinUsd, price] = await Promise.all([
      gasPrices.get(output.chainId, signal),
      requirePrice(prices, registry.native(output.chainId), signal),
      requirePrice(prices, input, signal),
    ]);
    const fill = `${String(output.chainId)}:${String(hasMessage)}`;
    const gasUsd = steadyStep(
      fillCostUsd({ gas: fillGasOf(across, hasMessage), gasPriceWei, coinUsd }),
      steps.get(fill),
    );
    steps.set(fill, gasUsd);
    const marginUsd = relayerMarginUsd(
      across,
      (amount * price) / 10n ** BigInt(input.decimals),
    );
    return {
      feeBase: usdToTokenCeil(gasUsd + marginUsd, price, input.decimals),
      gasUsd,
      marginUsd,
    };
  };

  /**
   * The amount that the relayer delivers for a deposit, in base units of the output token, rounded
   * down; always above zero.
   * @throws DomainError `no_route` when the deposit is outside the limits or does not cover its
   * fee; `chain_unavailable`
   */
  return async (deposited: Deposited, signal: AbortSignal): Promise<bigint> => {
    const { asset, amount } = deposited;
    requireWithinLimits(deposited);
    const { feeBase, gasUsd, marginUsd } = await feeOf(deposited, signal);
    const rest = amount - feeBase;
    const delivered =
      rest <= 0n ? 0n : rescaleFloor(rest, asset.input.decimals, asset.output.decimals);
    if (delivered > 0n) return delivered;
    const { symbol, decimals } = asset.input;
    throw new DomainError(
      "no_route",
      `The amount is too small: the bridge's fee of ${formatAmount(feeBase, decimals)} ${symbol} would take all of ` +
        `${formatAmount(amount, decimals)} ${symbol}. A relayer pays about ${cents(gasUsd)} US dollars for gas on ` +
        `${registry.get(asset.output.chainId).name} and asks ${cents(marginUsd)} more. Nothing was sent; send more at once.`,
    );
  };
};
