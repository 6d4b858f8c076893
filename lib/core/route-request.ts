import type { EvmAddress } from "./evm";
import type { Token } from "./token";

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
   * Id of the route that the caller chose. Default: the route with the largest output. Only quotes
   * read it, not providers.
   */
  readonly routeId?: string | undefined;
  /** The caller's limits for the whole route. Only quotes read them, not providers. */
  readonly limits?: RouteLimits | undefined;
}

export interface RouteLimits {
  /**
   * The minimum that must arrive, if slippage would allow less. In base units of the destination's
   * token.
   */
  readonly minOutBase?: bigint | undefined;
  /**
   * How much less than the worth of the sent amount may arrive, in basis points. Default: the limit
   * of the service.
   */
  readonly maxPriceImpactBps?: number | undefined;
}
