import { resolve } from "node:path";
import { createChainlinkOracle } from "@/lib/adapters/chainlink/price-oracle";
import { createCurrencyFeeds } from "@/lib/adapters/chainlink/currency-rates";
import { createRateFile } from "@/lib/adapters/rate-file/rate-file";
import { createReportingService } from "@/lib/books/reporting/service";
import type { Platform } from "./platform";

/**
 * Builds the reporting. Exchange rates are read from `FX_RATES_FILE` if it is set, otherwise from
 * price feeds.
 */
export const buildReporting = ({
  config,
  overrides,
  registry,
  database,
  clock,
  errorLog,
}: Platform) => {
  const { currencyRatesFile: file } = config;
  const feeds = () =>
    createCurrencyFeeds(overrides.priceOracle ?? createChainlinkOracle({ registry, clock }));
  const rates = file === null ? feeds() : createRateFile(resolve(file));
  return createReportingService({ database, rates, clock, log: errorLog });
};
