"use client";

import { useInfiniteQuery, type InfiniteData, type QueryKey, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { PAGE_ROWS, PAGES_KEY } from "./query-key";

export interface Page<Item> {
  readonly data: Item[];
  readonly nextCursor: string | null;
}

interface PagesOptions<Item> {
  readonly queryKey: QueryKey;
  /** Reads one page; `page` goes into the query of the call as it is. */
  readonly read: (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Page<Item>>;
  /** Told what is shown; how soon to ask again. */
  readonly refreshMs: (items: readonly Item[]) => number | false;
}

export type Pages<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

/** A list of the API, page after page by its cursor. */
export const usePages = <Item>({ queryKey, read, refreshMs }: PagesOptions<Item>): Pages<Item> =>
  useInfiniteQuery({
    queryKey: [...queryKey, PAGES_KEY],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE_ROWS, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => refreshMs(state.data?.pages.flatMap((page) => page.data) ?? []),
  });
