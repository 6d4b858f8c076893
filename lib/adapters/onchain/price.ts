import type { Token } from "@/lib/core/token";
import type { OnchainDeps } from "./chain-access";
import { estimateOut, findPaths, spotOutScaled } from "./paths";
import type { PoolBook } from "./pool-book";
import { createTtlCache } from "./ttl-cache";

/** US dollars per whole token, times 10^18. */
export type UsdScaled = bigint;

export const USD_DECIMALS = 18;
const USD_ONE = 10n ** BigInt(USD_DECIMALS);
const SPOT_SCALE_DECIMALS = 18n;
const SIGNIFICANT_FRACTION_DIGITS = 6;
/** Less than the 3 s for which callers wait. */
const HIGHEST_WAIT_MS = 2000;

/** `"2998.5"`: at most six significant digits after the point, rounded down. */
export const formatUsd = (usd: UsdScaled): string => {
  const whole = usd / USD_ONE;
  const fraction = (usd % USD_ONE).toString().padStart(USD_DECIMALS, "0");
  const leadingZeros = whole === 0n ? (/^0*/.exec(fraction)?.[0].length ?? 0) : 0;
  const kept = fraction.slice(0, leadingZeros + SIGNIFICANT_FRACTION_DIGITS).replace(/0+$/, "");
  return kept === "" ? whole.toString() : `${whole}.${kept}`;
};

/** Converts dollars to base units of a token at that price, rounded up. */
export const usdToTokenCeil = (usd: UsdScaled, price: UsdScaled, decimals: number): bigint =>
  (usd * 10n ** BigInt(decimals) + price - 1n) / price;

export interface PriceSource {
  /** Null when no pool leads to a pegged token on any reachable chain. */
  usd(token: Token, signal: AbortSignal): Promise<UsdScaled | null>;
  /** The highest price that the chains listing the asset return within a moment; null when none knows one. */
  highestUsd(token: Token, signal: AbortSignal): Promise<UsdScaled | null>;
}

/**
 * Pegged tokens are one dollar by configuration. Other tokens are worth the mid price, without fees, of the path that
 * returns the most pegged tokens for one whole token. A thin pool returns little, so it cannot determine the price.
 */
export const createPriceSource = (deps: OnchainDeps, book: PoolBook): PriceSource => {
  const { registry, clock, tuning } = deps;

  const onChain = async (token: Token, signal: AbortSignal): Promise<UsdScaled | null> => {
    const address = token.address === "native" ? registry.wrappedNative(token.chainId).address : token.address;
    const pools = await book.pools(token.chainId, signal);
    const one = 10n ** BigInt(token.decimals);
    let best: { readonly depth: bigint; readonly price: UsdScaled } | null = null;
    for (const pegged of registry.tokens(token.chainId)) {
      if (!pegged.usdPegged || pegged.address === "native") continue;
      const toUsd = (base: bigint): UsdScaled => (base * USD_ONE) / 10n ** BigInt(pegged.decimals);
      const search = { ...tuning, pools, tokenIn: address.toLowerCase(), tokenOut: pegged.address.toLowerCase() };
      for (const path of findPaths(search)) {
        const depth = toUsd(estimateOut(path, one));
        if (depth === 0n || (best !== null && depth <= best.depth)) continue;
        best = { depth, price: toUsd(spotOutScaled(path, one, false)) / 10n ** SPOT_SCALE_DECIMALS };
      }
    }
    return best?.price ?? null;
  };

  const load = async (assetId: string): Promise<UsdScaled | null> => {
    const { signal } = new AbortController();
    const places = registry.tokens().filter((token) => token.assetId === assetId);
    // The first chain with a price wins, so that a hanging chain delays nobody.
    const asked = places.map(async (place) => {
      const price = await onChain(place, signal);
      if (price === null) throw new Error(`${place.symbol} has no price on chain ${place.chainId}.`);
      return price;
    });
    return await Promise.any(asked).catch(() => null);
  };
  const loadHighest = async (assetId: string): Promise<UsdScaled | null> => {
    const signal = AbortSignal.timeout(HIGHEST_WAIT_MS);
    const places = registry.tokens().filter((token) => token.assetId === assetId);
    // A chain that hangs or is unreachable counts as having no price; the others decide.
    const answers = await Promise.all(
      places.map((place) => (place.usdPegged ? Promise.resolve(USD_ONE) : onChain(place, signal).catch(() => null))),
    );
    return answers.reduce((high, price) => (price !== null && (high === null || price > high) ? price : high), null);
  };
  const prices = createTtlCache({ clock, ttlMs: tuning.priceTtlMs, load });
  const highest = createTtlCache({ clock, ttlMs: tuning.priceTtlMs, load: loadHighest });

  return {
    usd: async (token, signal) => (token.usdPegged ? USD_ONE : await prices.get(token.assetId, signal)),
    highestUsd: async (token, signal) => (token.usdPegged ? USD_ONE : await highest.get(token.assetId, signal)),
  };
};
