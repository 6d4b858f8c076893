"use client";

import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listOperations } from "@/lib/contracts/operations";
import { isFinal } from "@/lib/core/status";
import { toListQuery, type OperationFilters } from "./filter-model";

type OperationsPage = ResponseOf<typeof listOperations>;

const PAGE_SIZE = 20;
const BUSY_REFRESH_MS = 2_000;
/** Others, and API keys, start operations too. */
const IDLE_REFRESH_MS = 10_000;

const isBusy = (data: InfiniteData<OperationsPage> | undefined): boolean =>
  data?.pages.some((page) => page.data.some((operation) => !isFinal(operation.status))) === true;

/** Pages of operations, newest first; refreshed quickly while one of those shown is under way. */
export const useOperationList = (filters: OperationFilters): UseInfiniteQueryResult<InfiniteData<OperationsPage>> => {
  const api = useApi();
  const query = toListQuery(filters);
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listOperations), "pages", query],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listOperations, {
        query: { limit: PAGE_SIZE, ...query, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => (isBusy(state.data) ? BUSY_REFRESH_MS : IDLE_REFRESH_MS),
  });
};
