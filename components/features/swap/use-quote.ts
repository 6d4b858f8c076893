"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { useSettled } from "@/components/ui/use-settled";
import { createQuote } from "@/lib/api-client/calls.gen";
import { quoteBody } from "@/lib/contracts/swap";
import { mustAccept, type SeenQuote } from "./quote-change";
import type { Quote, QuoteBody } from "./types";

export interface QuoteView {
  /** The newest; the one before stays while the next is on its way. */
  readonly quote: Quote | null;
  /** The quote that the person saw before and has not given up yet, when `quote` is worse. */
  readonly seen: Quote | null;
  readonly accept: () => void;
  /** `quote` does not answer what is typed now, or a newer one is on its way. */
  readonly outdated: boolean;
  readonly loading: boolean;
  readonly expired: boolean;
  readonly error: unknown;
  /** Asks now, without waiting for the typing to settle. */
  readonly refresh: () => void;
  /** For the countdown to call at its end: asks again. */
  readonly onExpire: () => void;
}

/** The quote of what is typed: asked for when the typing settles, and again when it expires. */
export const useQuote = (body: QuoteBody | null): QuoteView => {
  const api = useApi();
  const key = body === null ? null : JSON.stringify(body);
  const [settled, settleNow] = useSettled(key);
  const [accepted, setAccepted] = useState<SeenQuote | null>(null);
  const [expiredId, setExpiredId] = useState<string | null>(null);
  const query = useQuery({
    queryKey: [...queryKeyOf(createQuote), settled],
    queryFn: ({ signal }) => api.call(createQuote, { body: quoteBody.parse(JSON.parse(settled ?? "null")), signal }),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    // A quote ends by its own clock; asking again makes another one, so only expiry and the person do that.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const quote = query.data ?? null;
  const fresh =
    quote === null || query.isPlaceholderData || settled === null ? null : ({ key: settled, quote } as const);
  const worse = fresh !== null && mustAccept(accepted, fresh);
  if (fresh !== null && !worse && accepted?.quote !== fresh.quote) setAccepted(fresh);
  const refresh = (): void => {
    if (key !== settled) settleNow(key);
    else if (key !== null) void query.refetch();
  };
  return {
    quote,
    seen: worse ? (accepted?.quote ?? null) : null,
    accept: () => setAccepted(fresh),
    outdated: key === null || key !== settled || fresh === null || query.isFetching,
    loading: key !== null && (key !== settled || query.isFetching),
    expired: quote !== null && quote.quoteId === expiredId,
    error: key === settled && !query.isFetching ? query.error : null,
    refresh,
    onExpire: () => {
      setExpiredId(quote?.quoteId ?? null);
      refresh();
    },
  };
};
