"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import { getPayoutSchedule, listPayoutSchedules } from "@/lib/contracts/payout-schedules";
import type { Schedule } from "../payout";

const REFRESH_MS = 10_000;

/** Newest first. */
export const useScheduleList = (): Pages<Schedule> => {
  const api = useApi();
  return usePages({
    queryKey: queryKeyOf(listPayoutSchedules, {}),
    read: (page, signal) => api.call(listPayoutSchedules, { query: page, signal }),
    refreshMs: () => REFRESH_MS,
  });
};

export const useSchedule = (id: string): UseQueryResult<Schedule> =>
  useApiQuery(getPayoutSchedule, { params: { id } }, { refetchIntervalMs: REFRESH_MS });
