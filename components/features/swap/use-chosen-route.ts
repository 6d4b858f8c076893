"use client";

import { useState } from "react";
import type { QuoteBody } from "./types";

export interface ChosenRoute {
  /** The request, with the route that the person chose for its tokens. */
  readonly body: QuoteBody | null;
  /** Null: the best one is taken. */
  readonly routeId: string | null;
  /** @param routeId null: the best one again */
  readonly choose: (routeId: string | null) => void;
}

const wayOf = ({ from, toChainId, toToken }: QuoteBody): string =>
  JSON.stringify([from.map(({ address, chainId, token }) => [address, chainId, token]), toChainId, toToken]);

/** Keeps the route that a person chose while the amount changes. For other wallets, tokens or chains the best route is taken. */
export const useChosenRoute = (body: QuoteBody | null): ChosenRoute => {
  const [chosen, setChosen] = useState<{ readonly way: string; readonly routeId: string } | null>(null);
  const way = body === null ? null : wayOf(body);
  const routeId = chosen !== null && chosen.way === way ? chosen.routeId : null;
  return {
    body: body === null || routeId === null ? body : { ...body, routeId },
    routeId,
    choose: (routeId) => setChosen(routeId === null || way === null ? null : { way, routeId }),
  };
};
