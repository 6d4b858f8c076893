"use client";

import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import {
  getPrivateBalances,
  getPrivateTransfer,
  getUnifiedBalances,
  listPrivacyWallets,
  listPrivateExits,
  listPrivateTransfers,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import type { PrivateBalances, PrivateTransfer } from "./types";

const STALE_MS = 30_000;
const BALANCES_REFRESH_MS = 5_000;
/** A proof's time left is shown to the second; a first wallet is there at once. */
const SOON_MS = 1_000;
const BUSY_REFRESH_MS = 2_000;
/** Others, and API keys, move private money too. */
const IDLE_REFRESH_MS = 10_000;

/** The first one is made when balances are asked for, so that an empty list is asked for again. */
export const usePrivacyWallets = (): UseQueryResult<ResponseOf<typeof listPrivacyWallets>> => {
  const api = useApi();
  return useQuery({
    queryKey: queryKeyOf(listPrivacyWallets, {}),
    queryFn: ({ signal }) => api.call(listPrivacyWallets, { signal }),
    staleTime: STALE_MS,
    refetchInterval: ({ state }) => (state.data?.data.length === 0 ? SOON_MS : false),
  });
};

/** Of all private wallets in all pools; refreshed while the page is open. */
export const usePrivateBalances = (): UseQueryResult<PrivateBalances> =>
  useApiQuery(getPrivateBalances, {}, { refetchIntervalMs: BALANCES_REFRESH_MS });

/** Notes that are not approved, of all private wallets. */
export const usePrivateExits = (enabled: boolean): UseQueryResult<ResponseOf<typeof listPrivateExits>> =>
  useApiQuery(listPrivateExits, {}, { enabled, refetchIntervalMs: BALANCES_REFRESH_MS });

/** Newest first. */
export const usePrivateTransfers = (): Pages<PrivateTransfer> => {
  const api = useApi();
  return usePages({
    queryKey: queryKeyOf(listPrivateTransfers),
    read: (page, signal) => api.call(listPrivateTransfers, { query: page, signal }),
    refreshMs: (transfers) => (transfers.some(({ status }) => !isFinal(status)) ? BUSY_REFRESH_MS : IDLE_REFRESH_MS),
  });
};

/** Live until it is final. */
export const usePrivateTransfer = (id: string): UseQueryResult<PrivateTransfer> => {
  const api = useApi();
  const params = { id };
  return useQuery({
    queryKey: queryKeyOf(getPrivateTransfer, { params }),
    queryFn: ({ signal }) => api.call(getPrivateTransfer, { params, signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isFinal(state.data.status)
        ? false
        : state.data?.proof == null
          ? BUSY_REFRESH_MS
          : SOON_MS,
  });
};

/** Stores a new state of a private operation in the query cache, and refetches the queries that depend on it. */
export const useTakeOver = (): ((transfer: PrivateTransfer) => void) => {
  const queryClient = useQueryClient();
  return (transfer) => {
    queryClient.setQueryData(queryKeyOf(getPrivateTransfer, { params: { id: transfer.transferId } }), transfer);
    for (const contract of [listPrivateTransfers, getPrivateBalances, listPrivateExits, getUnifiedBalances])
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
  };
};
