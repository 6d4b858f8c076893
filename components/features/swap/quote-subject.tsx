import { z } from "zod";
import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import type { MoveSubject } from "@/components/features/money-flow/types";
import { quoteRecord } from "@/lib/contracts/quote-records";
import { Receipt } from "./receipt";
import type { Quote } from "./types";

const movedQuoteOf = (error: unknown): Quote | null => {
  if (codeOf(error) !== "quote_price_moved") return null;
  const parsed = quoteRecord.safeParse(extraOf(error, "quote"));
  return parsed.success ? parsed.data : null;
};

/** Converts a quote to the subject of the flow that approves and executes it. `noun` is `retry` for the quote of a retried operation. */
export const subjectOfQuote = (quote: Quote, noun: MoveSubject["noun"] = "swap"): MoveSubject => ({
  ids: { quoteId: quote.quoteId },
  noun,
  sources: quote.from.length,
  to: quote.to,
  expiresAt: quote.expiresAt,
  receipt: (to) => <Receipt quote={quote} to={to} />,
  stored: { quote, noun },
  movedTo: (error) => {
    const moved = movedQuoteOf(error);
    return moved === null ? null : subjectOfQuote(moved, noun);
  },
});

const storedQuote = z.object({ quote: quoteRecord, noun: z.enum(["swap", "retry"]) });

/** The subject that was kept before a reload; null where its sources are not among these wallets, so that it is somebody else's. */
export const reviveQuote = (stored: unknown, wallets: readonly { readonly address: string }[]): MoveSubject | null => {
  const { data } = storedQuote.safeParse(stored);
  const isOwn = data?.quote.from.every(({ address }) => wallets.some((wallet) => wallet.address === address)) === true;
  return data !== undefined && isOwn ? subjectOfQuote(data.quote, data.noun) : null;
};
