import type { getReportingCurrency, listCurrencyRates } from "@/lib/contracts/reporting";
import type { ResponseOf } from "@/lib/contracts/contract";
import { RATED_CURRENCIES } from "@/lib/core/currencies";
import type { CurrencyRate, CurrencyRates } from "@/lib/books/ports/currency-rates";
import type { Reporting } from "./service";

const toRate = ({ usd, at }: CurrencyRate, source: CurrencyRates["source"]) => ({
  usd,
  at: at.toISOString(),
  source,
});

export const toReporting = ({
  currency,
  rate,
  source,
}: Reporting): ResponseOf<typeof getReportingCurrency> => ({
  currency,
  rate: rate === null ? null : toRate(rate, source),
});

export const toRates = ({
  source,
  rates,
}: {
  readonly source: CurrencyRates["source"];
  readonly rates: readonly CurrencyRate[];
}): ResponseOf<typeof listCurrencyRates> => ({
  data: RATED_CURRENCIES.map((currency) => {
    const rate = rates.find((one) => one.currency === currency);
    return { currency, rate: rate === undefined ? null : toRate(rate, source) };
  }),
});
