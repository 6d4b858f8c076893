"use client";

import { useInfiniteQuery, type InfiniteData, type QueryKey, type UseInfiniteQueryResult } from "@tanstack/react-query";

export interface Page<Item> {
  readonly data: Item[];
  readonly nextCursor: string | null;
}

interface PagesOptions<Item> {
  readonly queryKey: QueryKey;
  /** Reads one page; `page` goes into the query of the call as it is. */
  readonly read: (page: { limit: number; cursor?: string }, signal: AbortSignal) => Promise<Page<Item>>;
  /** Milliseconds until the pages are read again, from the items that are shown; false: they are not read again. */
  readonly refreshMs: (items: readonly Item[]) => number | false;
}

export type Pages<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

const PAGE_SIZE = 20;

/** A list of the API, page after page by its cursor. */
export const usePages = <Item>({ queryKey, read, refreshMs }: PagesOptions<Item>): Pages<Item> =>
  useInfiniteQuery({
    queryKey: [...queryKey, "pages"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      read({ limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: ({ state }) => refreshMs(state.data?.pages.flatMap((page) => page.data) ?? []),
  });
