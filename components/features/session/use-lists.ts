"use client";

import {
  type InfiniteData,
  type QueryKey,
  useInfiniteQuery,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { useLiveIntervalMs } from "@/components/features/live/live-state";
import type { ListQuery } from "./api-query";

interface Page<Item> {
  readonly data: Item[];
  readonly nextCursor: string | null;
}

type Listed<Item> = InfiniteData<Page<Item>, string | null>;

const optionsOf = <Item>(
  query: ListQuery<Page<Item>>,
): UseInfiniteQueryOptions<Page<Item>, Error, Listed<Item>, QueryKey, string | null> => ({
  ...query,
  getNextPageParam: (page) => page.nextCursor,
});

export const joinPages = <Item>({ pages }: Listed<Item>): Page<Item> => ({
  data: pages.flatMap((page) => page.data),
  nextCursor: pages.at(-1)?.nextCursor ?? null,
});

export const useList = <Item>(
  query: ListQuery<Page<Item>>,
): UseInfiniteQueryResult<Page<Item>> =>
  useInfiniteQuery({ ...optionsOf(query), select: joinPages });

/** Maximum number of pages. A page has up to 1,000 records. */
const PAGES_MAX = 20;

/**
 * All records of a list in order, up to `PAGES_MAX` pages. The pages are loaded one after another,
 * and the loaded records are returned meanwhile.
 */
export const useWholeList = <Item>(
  query: ListQuery<Page<Item>>,
  refetchIntervalMs: number | false = false,
): UseInfiniteQueryResult<Page<Item>> => {
  const list = useInfiniteQuery({
    ...optionsOf(query),
    getNextPageParam: (page, pages) => (pages.length < PAGES_MAX ? page.nextCursor : null),
    select: joinPages,
    refetchInterval: refetchIntervalMs,
  });
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
  return list;
};

export type Pages<Item> = UseInfiniteQueryResult<Listed<Item>>;

/**
 * A list that is loaded page by page.
 *
 * @param refreshMs time until the next request, computed from the shown records; absent or null
 * when the stream of changes covers the list
 */
export const usePages = <Item>(
  query: ListQuery<Page<Item>>,
  refreshMs?: (items: readonly Item[]) => number | null,
): Pages<Item> => {
  const liveIntervalMs = useLiveIntervalMs();
  return useInfiniteQuery({
    ...optionsOf(query),
    refetchInterval: ({ state }) =>
      refreshMs?.(state.data?.pages.flatMap((page) => page.data) ?? []) ?? liveIntervalMs,
  });
};
