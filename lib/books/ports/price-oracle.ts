import type { Token } from "@/lib/core/token";

/** The price of a token from a source outside the pools, or the reason why there is none. */
export type OraclePrice =
  /**
   * `usd`: US dollars per whole token, a decimal string above zero. `at`: when the feed set it.
   */
  | { readonly state: "known"; readonly usd: string; readonly at: Date }
  | { readonly state: "no_feed" }
  /** The feed's last price is older than the configuration allows. */
  | { readonly state: "stale" }
  | { readonly state: "unavailable" };

/** The asset, and the chain whose feed is preferred. */
export type PricedAsset = Pick<Token, "assetId" | "chainId">;

/**
 * Prices that do not come from the pools of routes, so that trades in these pools cannot move them.
 * @example
 * const [weth] = await oracle.prices([token], AbortSignal.timeout(8_000));
 * // { state: "known", usd: "2998.5", at: 2026-12-01T10:00:00Z }
 */
export interface PriceOracle {
  /** One result per token, in the order of `tokens`. Rejects only when `signal` aborts. */
  prices(tokens: readonly PricedAsset[], signal: AbortSignal): Promise<readonly OraclePrice[]>;
}
