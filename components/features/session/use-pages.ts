"use client";

import { useInfiniteQuery, type InfiniteData, type QueryKey, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { PAGE_ROWS, PAGES_KEY } from "./query-key";

import { useLiveIntervalMs } from "@/components/features/live/live-state";

export interface Page<Item> {
  readonly data: Item[];
  readonly nextCursor: string | null;
}

interface PagesOptions<Item> {
  readonly queryKey: QueryKey;
  /** Reads one page; `page` goes into the query of the call as it is. */
  readonly read: (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Page<Item>>;
  /** From the shown data, the time until the next request. `live`: the stream of changes says when it is old. */
  readonly refreshMs: "live" | ((items: readonly Item[]) => number | "live");
}

export type Pages<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

/** A list of the API, page after page by its cursor. */
export const usePages = <Item>({ queryKey, read, refreshMs }: PagesOptions<Item>): Pages<Item> => {
  const liveIntervalMs = useLiveIntervalMs();
  const intervalMs = (items: readonly Item[]): number | false => {
    const asked = refreshMs === "live" ? refreshMs : refreshMs(items);
    return asked === "live" ? liveIntervalMs : asked;
  };
  return useInfiniteQuery({
    queryKey: [...queryKey, PAGES_KEY],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE_ROWS, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => intervalMs(state.data?.pages.flatMap((page) => page.data) ?? []),
  });
};
