import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { apiPages, apiQuery, PAGE_ROWS } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { type Pages, usePages } from "@/components/features/session/use-lists";
import { tokensQuery, type AssetInfo, assetsOf } from "@/components/features/swap/tokens";
import { shorten } from "@/components/ui/address";
import { getGlobalAccount, listEntries, listGlobalAccounts } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { getStatement } from "@/lib/contracts/global-accounts";

export type Account = ResponseOf<typeof listGlobalAccounts>["data"][number];
export type Entry = ResponseOf<typeof listEntries>["data"][number];
export type Statement = ResponseOf<typeof getStatement>;

const ID_HEAD = 7;

export const shortId = (id: string): string => shorten(id, ID_HEAD);

export const accountName = ({ name, id }: Pick<Account, "name" | "id">): string =>
  name ?? `Account ${shortId(id)}`;

/** The longest search text that the API accepts. */
export const SEARCH_MAX = 80;
const NAMES_READ = 100;
const NAMES_STALE_MS = 30_000;

interface AccountFilters {
  readonly q: string | null;
  /** Symbol or asset id. */
  readonly currency: string | null;
}

export const accountPages = ({ q, currency }: AccountFilters) => {
  const search = q?.trim().slice(0, SEARCH_MAX) ?? "";
  return apiPages(listGlobalAccounts, {
    query: {
      limit: PAGE_ROWS,
      q: search === "" ? undefined : search,
      currency: currency ?? undefined,
    },
  });
};

export const accountQuery = (id: string) => apiQuery(getGlobalAccount, { params: { id } });

/** Reads an account. Sends no request while the id is null or empty. */
export const useAccount = (id: string | null): UseQueryResult<Account> =>
  useLiveQuery({ ...accountQuery(id ?? ""), enabled: id !== null && id !== "" });

export const useEntries = (id: string): Pages<Entry> =>
  usePages(apiPages(listEntries, { params: { id }, query: { limit: PAGE_ROWS } }));

const NO_ACCOUNTS: readonly Account[] = [];

const knownAccountsQuery = {
  ...apiQuery(listGlobalAccounts, { query: { limit: NAMES_READ } }),
  staleTime: NAMES_STALE_MS,
};

/**
 * The newest accounts, for pickers and for names beside ids. Older accounts are found only by
 * search.
 */
export const useKnownAccounts = (): readonly Account[] =>
  useQuery(knownAccountsQuery).data?.data ?? NO_ACCOUNTS;

/**
 * Finds the name of an account by its id. Undefined when the account is not among the newest ones.
 */
export const useAccountNames = (): ((id: string) => string | undefined) => {
  const accounts = useKnownAccounts();
  return useMemo(() => {
    const names = new Map(accounts.map((account) => [account.id, accountName(account)]));
    return (id) => names.get(id);
  }, [accounts]);
};

/** Every asset of the project; undefined while they load. */
export const useCurrencies = (): readonly AssetInfo[] | undefined => {
  const tokens = useQuery(tokensQuery).data?.data;
  return tokens && assetsOf(tokens);
};
