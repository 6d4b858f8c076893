"use client";

import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useLiveIntervalMs } from "@/components/features/live/live-state";
import { PAGE_ROWS, PAGES_KEY, queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { listActivity } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { toListQuery, type ActivityFilters } from "./filter-model";

type ActivityPage = ResponseOf<typeof listActivity>;

/** Pages of movements, newest first; read again when one changes or is new. */
export const useActivityList = (filters: ActivityFilters): UseInfiniteQueryResult<InfiniteData<ActivityPage>> => {
  const api = useApi();
  const query = toListQuery(filters);
  const refetchInterval = useLiveIntervalMs();
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listActivity), PAGES_KEY, query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listActivity, {
        query: { limit: PAGE_ROWS, ...query, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval,
  });
};
