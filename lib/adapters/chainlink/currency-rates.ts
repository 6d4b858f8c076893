import type { CurrencyRates } from "@/lib/books/ports/currency-rates";
import type { PriceOracle } from "@/lib/books/ports/price-oracle";
import { RATED_CURRENCIES } from "@/lib/core/currencies";

/**
 * Chain id for currencies. No token is on a chain with this id, so the first configured feed of
 * the currency is used.
 */
const ANY_CHAIN = 0;

/**
 * Rates from the price feeds whose `assetIds` name a currency: `EUR` for Chainlink's EUR / USD.
 */
export const createCurrencyFeeds = (oracle: PriceOracle): CurrencyRates => ({
  source: "chainlink",
  rates: async (signal) => {
    const prices = await oracle.prices(
      RATED_CURRENCIES.map((assetId) => ({ assetId, chainId: ANY_CHAIN })),
      signal,
    );
    return RATED_CURRENCIES.flatMap((currency, index) => {
      const price = prices[index];
      return price?.state === "known" ? [{ currency, usd: price.usd, at: price.at }] : [];
    });
  },
});
