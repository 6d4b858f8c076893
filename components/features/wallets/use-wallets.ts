"use client";

import { useInfiniteQuery, type UseInfiniteQueryResult, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listWallets } from "@/lib/api-client/calls.gen";

export type WalletList = ResponseOf<typeof listWallets>;
export type WalletRecord = WalletList["data"][number];

const STALE_MS = 30_000;

/** The wallets whose pages were loaded, oldest first: up to 1,000, and the next ones after `fetchNextPage`. */
export const useWallets = (): UseInfiniteQueryResult<WalletList> => {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listWallets), "pages"],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listWallets, { query: pageParam === null ? {} : { cursor: pageParam }, signal }),
    getNextPageParam: (page) => page.nextCursor,
    select: ({ pages }): WalletList => ({
      data: pages.flatMap((page) => page.data),
      nextCursor: pages.at(-1)?.nextCursor ?? null,
    }),
    staleTime: STALE_MS,
  });
};

/** The wallet with this address, which may be on a page that was not loaded. */
export const useWalletAt = (address: string | null): UseQueryResult<WalletList> =>
  useApiQuery(listWallets, { query: { address: address ?? "" } }, { enabled: address !== null, staleTimeMs: STALE_MS });

/** The project's own wallet; undefined until the wallets are known. */
export const useTreasury = (): WalletRecord | undefined =>
  useWallets().data?.data.find((wallet) => wallet.kind === "treasury");
