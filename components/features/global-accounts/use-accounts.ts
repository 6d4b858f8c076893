"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import { getGlobalAccount, listEntries, listGlobalAccounts } from "@/lib/api-client/calls.gen";
import type { Account, Entry } from "./account";

/** The API takes no longer search. */
const SEARCH_MAX = 80;
const NAMES_READ = 100;
const NAMES_STALE_MS = 30_000;

export interface AccountFilters {
  readonly q: string | null;
  /** Symbol or asset id. */
  readonly currency: string | null;
}

const toQuery = ({ q, currency }: AccountFilters): { q?: string; currency?: string } => ({
  ...(q === null || q.trim() === "" ? {} : { q: q.trim().slice(0, SEARCH_MAX) }),
  ...(currency === null ? {} : { currency }),
});

/** Newest first. */
export const useAccountList = (filters: AccountFilters): Pages<Account> => {
  const api = useApi();
  const query = toQuery(filters);
  return usePages({
    queryKey: queryKeyOf(listGlobalAccounts, { query }),
    read: (page, signal) => api.call(listGlobalAccounts, { query: { ...query, ...page }, signal }),
    refreshMs: "live",
  });
};

/** Without an id nothing is asked. */
export const useAccount = (id: string | null): UseQueryResult<Account> =>
  useApiQuery(getGlobalAccount, { params: { id: id ?? "" } }, { enabled: id !== null && id !== "", live: true });

export const useEntries = (id: string): Pages<Entry> => {
  const api = useApi();
  const params = { id };
  return usePages({
    queryKey: queryKeyOf(listEntries, { params }),
    read: (page, signal) => api.call(listEntries, { params, query: page, signal }),
    refreshMs: "live",
  });
};

/** The newest accounts, for choosing one and for names beside ids; older ones are found by search. */
export const useKnownAccounts = (): readonly Account[] =>
  useApiQuery(listGlobalAccounts, { query: { limit: NAMES_READ } }, { staleTimeMs: NAMES_STALE_MS }).data?.data ?? [];
