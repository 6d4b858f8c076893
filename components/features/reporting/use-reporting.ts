import { apiQuery } from "@/components/features/session/api-query";
import { getReportingCurrency } from "@/lib/api-client/calls.gen";

/** Rates change every few minutes at most. */
const STALE_MS = 60_000;

export const reportingQuery = { ...apiQuery(getReportingCurrency, {}), staleTime: STALE_MS };
