import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import { quoteRecord } from "@/lib/contracts/quote-records";
import type { Quote } from "./tokens";

/** The fresh quote in a `quote_price_moved` error; null for every other error. */
export const movedQuoteOf = (error: unknown): Quote | null =>
  codeOf(error) === "quote_price_moved"
    ? (quoteRecord.safeParse(extraOf(error, "quote")).data ?? null)
    : null;

export interface SeenQuote {
  /** The request that the quote answers, as JSON. */
  readonly key: string;
  readonly quote: Quote;
}

type Priced = Pick<Quote, "priceImpactBps"> & {
  readonly to: Pick<Quote["to"], "amountBase" | "minAmountBase">;
};

/** Whether `fresh` has a lower minimum or expected amount than the quote that was seen. */
export const isWorse = (seen: Priced, fresh: Priced): boolean =>
  BigInt(fresh.to.minAmountBase) < BigInt(seen.to.minAmountBase) ||
  BigInt(fresh.to.amountBase) < BigInt(seen.to.amountBase);

/**
 * Whether a person has to accept `fresh` before it replaces the quote that they saw. The quote of
 * another request never has to be accepted.
 */
export const mustAccept = (seen: SeenQuote | null, fresh: SeenQuote): boolean =>
  seen !== null &&
  seen.key === fresh.key &&
  seen.quote !== fresh.quote &&
  isWorse(seen.quote, fresh.quote);

const IMPACT_CONFIRM_BPS = 300;
const IMPACT_TYPE_BPS = 1500;

/** The word that a person must type when the trade costs more than 15 %. */
export const IMPACT_WORD = "ACCEPT";

/**
 * The price impact in basis points. It is measured against the price feeds, which are independent
 * of the pools; without a feed, against the pools.
 */
export const impactOf = (quote: Pick<Quote, "oracleImpactBps" | "priceImpactBps">): number =>
  quote.oracleImpactBps ?? quote.priceImpactBps;

/** The confirmation that a price impact needs: a checkbox above 3 %, a typed word above 15 %. */
export const impactGate = (bps: number): "none" | "confirm" | "type" => {
  if (bps > IMPACT_TYPE_BPS) return "type";
  return bps > IMPACT_CONFIRM_BPS ? "confirm" : "none";
};
