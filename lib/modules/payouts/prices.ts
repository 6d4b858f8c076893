import type { Token } from "@/lib/core/token";

export const PRICE_TIMEOUT_MS = 3000;

/** Prices of tokens in USD as decimal strings, in the order asked; null for a token without a price. */
export interface Prices {
  priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  highestPriceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
}
