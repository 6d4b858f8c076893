"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { usePages, type Pages } from "@/components/features/session/use-pages";
import { getPayoutSchedule, listPayoutScheduleItems, listPayoutSchedules } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
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

type ScheduleRow = ResponseOf<typeof listPayoutScheduleItems>["data"][number];

/** Rows are one line each, and a schedule has up to 10,000 of them. */
const ROWS_READ = 50;

/** The rows that each run pays, in their order. They never change. */
export const useScheduleRows = (id: string): Pages<ScheduleRow> => {
  const api = useApi();
  const params = { id };
  return usePages({
    queryKey: queryKeyOf(listPayoutScheduleItems, { params }),
    read: (page, signal) => api.call(listPayoutScheduleItems, { params, query: { ...page, limit: ROWS_READ }, signal }),
    refreshMs: "live",
  });
};
