import type { Quote } from "./types";

/** A quote and the request that it answers. */
export interface SeenQuote {
  /** The request, as JSON. */
  readonly key: string;
  readonly quote: Quote;
}

type Priced = Pick<Quote, "priceImpactBps"> & { readonly to: Pick<Quote["to"], "amountBase" | "minAmountBase"> };

/** Less promised, or less expected, than in the quote that was seen. */
export const isWorse = (seen: Priced, fresh: Priced): boolean =>
  BigInt(fresh.to.minAmountBase) < BigInt(seen.to.minAmountBase) ||
  BigInt(fresh.to.amountBase) < BigInt(seen.to.amountBase);

/** Whether a person has to accept `fresh` before it may take the place of what they saw. Another request always may. */
export const mustAccept = (seen: SeenQuote | null, fresh: SeenQuote): boolean =>
  seen !== null && seen.key === fresh.key && seen.quote !== fresh.quote && isWorse(seen.quote, fresh.quote);

const IMPACT_CONFIRM_BPS = 300;
const IMPACT_TYPE_BPS = 1500;

/** The word that a person must type where the trade costs more than 15 %. */
export const IMPACT_WORD = "ACCEPT";

/** By the feeds that are independent of the pools, or by the pools where a feed is missing. */
export const impactOf = (quote: Pick<Quote, "oracleImpactBps" | "priceImpactBps">): number =>
  quote.oracleImpactBps ?? quote.priceImpactBps;

/** How loudly a price impact asks: over 3 % a tick, over 15 % a typed word. */
export const impactGate = (bps: number): "none" | "confirm" | "type" =>
  bps > IMPACT_TYPE_BPS ? "type" : bps > IMPACT_CONFIRM_BPS ? "confirm" : "none";
