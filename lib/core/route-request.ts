import type { EvmAddress } from "./evm";
import type { Token } from "./token";

/** The amount of one token that a wallet pays on one chain, in base units. */
export interface RouteSource {
  readonly owner: EvmAddress;
  readonly token: Token;
  readonly amountBase: bigint;
}

export interface RouteRequest {
  readonly sources: readonly RouteSource[];
  readonly destination: { readonly token: Token; readonly recipient: EvmAddress };
  /** Slippage in basis points, 0–1000. The chain enforces the resulting minimum of every leg. */
  readonly slippageBps: number;
  /**
   * Id of the route that the caller chose; without it the route with the largest output is taken.
   * Quotes check it; providers do not read it.
   */
  readonly routeId?: string | undefined;
  /** The caller's limits for the whole route. Quotes check them; providers do not read them. */
  readonly limits?: RouteLimits | undefined;
}

export interface RouteLimits {
  /**
   * The minimum that has to arrive, when slippage would allow less; in base units of the
   * destination's token.
   */
  readonly minOutBase?: bigint | undefined;
  /**
   * How much less than the sent amount's worth may arrive, in basis points; without it the
   * service's own limit applies.
   */
  readonly maxPriceImpactBps?: number | undefined;
}
