import type { UseQueryResult } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { getBalanceHistory, getUnifiedBalances } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Balances = ResponseOf<typeof getUnifiedBalances>;
export type TokenTotal = Balances["totals"][number];

export const balancesQuery = apiQuery(getUnifiedBalances, {});

export const useBalances = (): UseQueryResult<Balances> => useLiveQuery(balancesQuery);

/** The default number of days of history. */
export const HISTORY_DAYS = 30;

export const balanceHistoryQuery = (days: number) =>
  apiQuery(getBalanceHistory, { query: { days } });
