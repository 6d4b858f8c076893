"use client";

import { useState } from "react";
import type { QuoteBody } from "./types";

export interface ChosenRoute {
  /** The request, with the route that the person chose for its tokens. */
  readonly body: QuoteBody | null;
  readonly isChosen: boolean;
  /** @param routeId null: the best one again */
  readonly choose: (routeId: string | null) => void;
}

const wayOf = ({ from, toChainId, toToken }: QuoteBody): string =>
  JSON.stringify([from.map(({ address, chainId, token }) => [address, chainId, token]), toChainId, toToken]);

/** Keeps the route that a person chose while the amount changes. Other wallets, tokens or chains begin with the best route again. */
export const useChosenRoute = (body: QuoteBody | null): ChosenRoute => {
  const [chosen, setChosen] = useState<{ readonly way: string; readonly routeId: string } | null>(null);
  const way = body === null ? null : wayOf(body);
  const isChosen = body !== null && chosen !== null && chosen.way === way;
  return {
    body: isChosen ? { ...body, routeId: chosen.routeId } : body,
    isChosen,
    choose: (routeId) => setChosen(routeId === null || way === null ? null : { way, routeId }),
  };
};
