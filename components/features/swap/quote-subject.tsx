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
  movedTo: (error) => {
    const moved = movedQuoteOf(error);
    return moved === null ? null : subjectOfQuote(moved, noun);
  },
});
