"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import { getBalanceHistory } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export const useBalanceHistory = (days: number): UseQueryResult<ResponseOf<typeof getBalanceHistory>> =>
  useApiQuery(getBalanceHistory, { query: { days } }, { live: true });
