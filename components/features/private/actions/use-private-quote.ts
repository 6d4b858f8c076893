"use client";

import { useState } from "react";
import { detailsOf } from "@/components/features/money-flow/api-error";
import { useApiMutation } from "@/components/features/session/use-api";
import type { BodyInput } from "@/lib/contracts/contract";
import { quotePrivateSwap } from "@/lib/api-client/calls.gen";
import type { PrivateQuote } from "../types";
import { isWorse } from "./quote-change";
import { serverErrors, type FormErrors } from "./form-model";

export type QuoteBody = BodyInput<typeof quotePrivateSwap>;

interface Asked {
  readonly key: string;
  readonly quote: PrivateQuote;
}

export interface PrivateQuoteView {
  /** The newest quote; null until the first one arrives. */
  readonly quote: PrivateQuote | null;
  /** The earlier, better quote for the same request, until the person accepts that `quote` promises less. */
  readonly seen: PrivateQuote | null;
  readonly accept: () => void;
  /** It does not answer what is typed now. */
  readonly outdated: boolean;
  readonly expired: boolean;
  readonly loading: boolean;
  readonly error: unknown;
  readonly fieldErrors: FormErrors;
  readonly ask: () => void;
  readonly onExpire: () => void;
}

/** The quote of what is typed. Asked for by the person; a worse one for the same request has to be accepted. */
export const usePrivateQuote = (body: QuoteBody | null): PrivateQuoteView => {
  const asking = useApiMutation(quotePrivateSwap);
  const [fresh, setFresh] = useState<Asked | null>(null);
  const [accepted, setAccepted] = useState<Asked | null>(null);
  const [askedKey, setAskedKey] = useState<string | null>(null);
  const [expiredId, setExpiredId] = useState<string | null>(null);
  const key = body === null ? null : JSON.stringify(body);
  const ask = (): void => {
    if (body === null || key === null) return;
    setAskedKey(key);
    asking.mutate(
      { body },
      {
        onSuccess: (quote) => {
          const answer = { key, quote };
          setFresh(answer);
          if (accepted?.key !== key || !isWorse(accepted.quote, quote)) setAccepted(answer);
        },
      },
    );
  };
  const isHeld = fresh !== null && accepted !== null && accepted.key === fresh.key && accepted.quote !== fresh.quote;
  // An error of another request says nothing about this one.
  const error = askedKey === key ? asking.error : null;
  return {
    quote: fresh?.quote ?? null,
    seen: isHeld ? accepted.quote : null,
    accept: () => setAccepted(fresh),
    outdated: fresh !== null && fresh.key !== key,
    expired: fresh !== null && fresh.quote.quoteId === expiredId,
    loading: asking.isPending,
    error,
    fieldErrors: serverErrors(detailsOf(error)),
    ask,
    onExpire: () => setExpiredId(fresh?.quote.quoteId ?? null),
  };
};
