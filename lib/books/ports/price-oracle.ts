import type { Token } from "@/lib/core/token";

/**
 * The price of a token from a source that no pool of ours can move, or the reason why there is
 * none.
 */
export type OraclePrice =
  /** `usd`: US dollars per whole token, a decimal string above zero. */
  | { readonly state: "known"; readonly usd: string }
  | { readonly state: "no_feed" }
  /** The feed's last price is older than the configuration allows. */
  | { readonly state: "stale" }
  /** The chain or the feed did not give a price. */
  | { readonly state: "unavailable" };

/**
 * Prices from outside the pools that routes trade in.
 * @example
 * const [weth] = await oracle.prices([token], AbortSignal.timeout(8_000)); // { state: "known", usd: "2998.5" }
 */
export interface PriceOracle {
  /**
   * One answer for each token, in the order of the tokens. It rejects only when `signal` aborts.
   */
  prices(tokens: readonly Token[], signal: AbortSignal): Promise<readonly OraclePrice[]>;
}
