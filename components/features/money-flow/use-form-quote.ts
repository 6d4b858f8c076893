"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queryKeyOf } from "@/components/features/session/api-query";
import { useSettled } from "@/components/ui/use-settled";
import type { Callable } from "@/lib/contracts/contract";
import type { QuoteState } from "./quote-shell";

interface FormQuoteOptions<Body, Quote> {
  readonly contract: Callable;
  /** The request; null until the form is complete and valid. */
  readonly body: Body | null;
  readonly send: (body: Body, signal: AbortSignal) => Promise<Quote>;
  /** False: a request that got no answer is not repeated. */
  readonly retry?: false;
}

interface FormQuote<Quote> extends QuoteState {
  /** The newest quote. While the next quote is loading, this is the previous quote. */
  readonly quote: Quote | null;
  /**
   * The quote, with its request as JSON in `key`; null while the newest quote belongs to another
   * request.
   */
  readonly fresh: { readonly key: string; readonly quote: Quote } | null;
}

/** The quote of a form. It is requested when the person stops typing, and again when it expires. */
export const useFormQuote = <Body, Quote>({
  contract,
  body,
  send,
  ...options
}: FormQuoteOptions<Body, Quote>): FormQuote<Quote> => {
  const key = body === null ? null : JSON.stringify(body);
  const [settled, settleNow] = useSettled(key);
  const [expired, setExpired] = useState<Quote | null>(null);
  const query = useQuery({
    ...options,
    queryKey: [...queryKeyOf(contract), settled],
    queryFn: ({ signal }) => send(JSON.parse(settled ?? "null") as Body, signal),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    // Each request creates a new quote, so only an expired quote or the person's action causes a
    // request.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  const quote = query.data ?? null;
  const isAnswer = quote !== null && settled !== null && !query.isPlaceholderData;
  const fresh = isAnswer ? { key: settled, quote } : null;
  const ask = (): void => {
    if (key !== settled) settleNow(key);
    else if (key !== null) void query.refetch();
  };
  return {
    quote,
    fresh,
    outdated: key === null || key !== settled || fresh === null || query.isFetching,
    loading: key !== null && (key !== settled || query.isFetching),
    expired: quote !== null && quote === expired,
    error: key === settled && !query.isFetching ? query.error : null,
    ask,
    onExpire: () => {
      setExpired(quote);
      ask();
    },
  };
};
