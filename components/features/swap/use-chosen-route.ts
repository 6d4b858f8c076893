"use client";

import { useState } from "react";
import type { QuoteBody } from "./tokens";

export interface ChosenRoute {
  /** The request, with the route if the person chose one. */
  readonly body: QuoteBody | null;
  /** Null when the best route is used. */
  readonly routeId: string | null;
  /**
   * Chooses a route for the request.
   * @param routeId null for the best route
   */
  readonly choose: (routeId: string | null) => void;
}

const wayOf = ({ from, toChainId, toToken }: QuoteBody): string =>
  JSON.stringify([
    from.map(({ address, chainId, token }) => [address, chainId, token]),
    toChainId,
    toToken,
  ]);

/**
 * Keeps the chosen route while only the amount changes. For other wallets, tokens or chains, the
 * best route is used.
 */
export const useChosenRoute = (body: QuoteBody | null): ChosenRoute => {
  const [chosen, setChosen] = useState<{
    readonly way: string;
    readonly routeId: string;
  } | null>(null);
  const way = body === null ? null : wayOf(body);
  const routeId = chosen !== null && chosen.way === way ? chosen.routeId : null;
  return {
    body: body === null || routeId === null ? body : { ...body, routeId },
    routeId,
    choose: (routeId) => setChosen(routeId === null || way === null ? null : { way, routeId }),
  };
};
