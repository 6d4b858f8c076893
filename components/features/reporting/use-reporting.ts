import { apiQuery } from "@/components/features/session/api-query";
import { getReportingCurrency } from "@/lib/api-client/calls.gen";
import type { ReportingCurrency } from "@/lib/core/currencies";

/** `1.08 USD for 1 EUR` */
export const rateText = (currency: ReportingCurrency, usd: string): string =>
  `${usd} USD for 1 ${currency}`;

/** Rates are not read more often, because they change every few minutes at most. */
const STALE_MS = 60_000;

export const reportingQuery = { ...apiQuery(getReportingCurrency, {}), staleTime: STALE_MS };
