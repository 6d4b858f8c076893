"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import type { PAYOUT_KINDS } from "@/lib/contracts/payout-records";
import { getPayout, listPayouts } from "@/lib/api-client/calls.gen";
import type { Status } from "@/lib/core/status";
import { refreshMsOf, type Payout } from "./payout";

/** The stream of changes has no event for each row that is paid. */
const BUSY_REFRESH_MS = 2_000;

export interface PayoutFilters {
  readonly status: Status | null;
  readonly kind: (typeof PAYOUT_KINDS)[number] | null;
}

/** Newest first. */
export const usePayoutList = ({ status, kind }: PayoutFilters): Pages<Payout> => {
  const api = useApi();
  const query = { ...(status === null ? {} : { status }), ...(kind === null ? {} : { kind }) };
  return usePages({
    queryKey: queryKeyOf(listPayouts, { query }),
    read: (page, signal) => api.call(listPayouts, { query: { ...query, ...page }, signal }),
    refreshMs: (payouts) => (payouts.some((one) => one.status === "processing") ? BUSY_REFRESH_MS : "live"),
  });
};

/** Live until it is settled. */
export const usePayout = (id: string): UseQueryResult<Payout> => {
  const api = useApi();
  const params = { id };
  return useQuery({
    queryKey: queryKeyOf(getPayout, { params }),
    queryFn: ({ signal }) => api.call(getPayout, { params, signal }),
    refetchInterval: ({ state }) => refreshMsOf(state.data, Date.now()),
  });
};
