"use client";

import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useLiveIntervalMs } from "@/components/features/live/live-state";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listOperations } from "@/lib/contracts/operations";
import { toListQuery, type OperationFilters } from "./filter-model";

type OperationsPage = ResponseOf<typeof listOperations>;

const PAGE_SIZE = 20;

/** Pages of operations, newest first; read again when one changes or is new. */
export const useOperationList = (filters: OperationFilters): UseInfiniteQueryResult<InfiniteData<OperationsPage>> => {
  const api = useApi();
  const query = toListQuery(filters);
  const refetchInterval = useLiveIntervalMs();
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listOperations), "pages", query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listOperations, {
        query: { limit: PAGE_SIZE, ...query, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval,
  });
};
