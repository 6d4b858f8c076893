import type { UseQueryResult } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { getBalanceHistory, getUnifiedBalances } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Balances = ResponseOf<typeof getUnifiedBalances>;
export type TokenTotal = Balances["totals"][number];

/** Balances of all wallets over all chains. */
export const balancesQuery = apiQuery(getUnifiedBalances, {});

export const useBalances = (): UseQueryResult<Balances> => useLiveQuery(balancesQuery);

/** Number of days that pages show by default. */
export const HISTORY_DAYS = 30;

export const balanceHistoryQuery = (days: number) =>
  apiQuery(getBalanceHistory, { query: { days } });
