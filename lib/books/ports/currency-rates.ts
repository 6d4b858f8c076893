import type { RatedCurrency } from "@/lib/core/currencies";

export interface CurrencyRate {
  readonly currency: RatedCurrency;
  /** US dollars for one unit of the currency, a decimal string above zero. */
  readonly usd: string;
  /** When the source set the rate. */
  readonly at: Date;
}

/**
 * Rates of currencies against the US dollar, for figures on screens. No movement is priced by them.
 * @example
 * await rates.rates(AbortSignal.timeout(5_000));
 * // [{ currency: "EUR", usd: "1.0843", at: 2026-12-01T16:00:00Z }]
 */
export interface CurrencyRates {
  /** The source, in the words of the API: `chainlink` or `file`. */
  readonly source: "chainlink" | "file";
  /**
   * The rates that are known. A currency is left out when it has no feed or no line in the file,
   * or when its rate is too old.
   * @throws when the source cannot be read at all
   */
  rates(signal: AbortSignal): Promise<readonly CurrencyRate[]>;
}
