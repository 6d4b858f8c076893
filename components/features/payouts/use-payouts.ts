"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf, useApi } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import { getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import { isFinal, type Status } from "@/lib/core/status";
import { refreshMsOf, type Payout, type PayoutItem } from "./payout";

const BUSY_REFRESH_MS = 2_000;
/** Rows that were read before the payout ended are old news. */
const LAST_REFRESH_MS = 300;
/** Others, and API keys, make payouts too. */
const IDLE_REFRESH_MS = 10_000;

/** Newest first. */
export const usePayoutList = (status: Status | null): Pages<Payout> => {
  const api = useApi();
  const query = status === null ? {} : { status };
  return usePages({
    queryKey: queryKeyOf(listPayouts, { query }),
    read: (page, signal) => api.call(listPayouts, { query: { ...query, ...page }, signal }),
    refreshMs: (payouts) => (payouts.some((one) => !isFinal(one.status)) ? BUSY_REFRESH_MS : IDLE_REFRESH_MS),
  });
};

/** Live until it is settled. */
export const usePayout = (id: string): UseQueryResult<Payout> => {
  const api = useApi();
  const params = { id };
  return useQuery({
    queryKey: queryKeyOf(getPayout, { params }),
    queryFn: ({ signal }) => api.call(getPayout, { params, signal }),
    refetchInterval: ({ state }) => refreshMsOf(state.data),
  });
};

/** Rows in their order; asked for again as often as the payout itself. */
export const usePayoutItems = (payout: Payout, status: PayoutItem["status"] | null): Pages<PayoutItem> => {
  const api = useApi();
  const params = { id: payout.payoutId };
  const query = status === null ? {} : { status };
  return usePages({
    queryKey: queryKeyOf(listPayoutItems, { params, query }),
    read: (page, signal) => api.call(listPayoutItems, { params, query: { ...query, ...page }, signal }),
    refreshMs: (items) =>
      isFinal(payout.status) && items.some((item) => item.status === "pending") ? LAST_REFRESH_MS : refreshMsOf(payout),
  });
};
