"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import { getPayoutSchedule, listPayoutSchedules } from "@/lib/api-client/calls.gen";
import type { Schedule } from "../payout";

/** Newest first. */
export const useScheduleList = (): Pages<Schedule> => {
  const api = useApi();
  return usePages({
    queryKey: queryKeyOf(listPayoutSchedules, {}),
    read: (page, signal) => api.call(listPayoutSchedules, { query: page, signal }),
    refreshMs: "live",
  });
};

export const useSchedule = (id: string): UseQueryResult<Schedule> =>
  useApiQuery(getPayoutSchedule, { params: { id } }, { live: true });
