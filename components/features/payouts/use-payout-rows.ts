"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { z } from "zod";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import type { ApiClient } from "@/lib/api-client/client";
import { defineContract } from "@/lib/contracts/contract";
import { listPayoutItems } from "@/lib/contracts/payouts";
import { countsOf, ROW_STATES, type Payout } from "./payout";
import { parseRowsFile, type PayoutRow } from "./rows-file";

/** The same route as a file. */
const itemsFile = defineContract({ ...listPayoutItems, response: z.string(), mediaType: "text/csv" });

const REFRESH_MIN_MS = 700;
/** Reading the rows takes at most a fifth of the time. */
const REST = 4;

export const readRowsFile = (api: ApiClient, payoutId: string, signal?: AbortSignal): Promise<string> =>
  api.call(itemsFile, {
    params: { id: payoutId },
    query: { format: "csv" },
    ...(signal === undefined ? {} : { signal }),
  });

interface Reading {
  readonly rows: readonly PayoutRow[];
  readonly tookMs: number;
}

/** Whether the rows tell what the record counts. */
const agrees = (payout: Payout, rows: readonly PayoutRow[]): boolean => {
  const counts = countsOf(payout);
  const seen = new Map<string, number>();
  for (const { state } of rows) seen.set(state, (seen.get(state) ?? 0) + 1);
  // Rows of a payout between accounts that never began say "pending" for ever.
  if (payout.kind === "global_accounts")
    return (seen.get("paid") ?? 0) === counts.paid && (seen.get("failed") ?? 0) === counts.failed;
  return ROW_STATES.every((state) => (seen.get(state) ?? 0) === counts[state]);
};

/** All rows in their order. Read again while they lag behind what the record counts, at a pace that fits how long that takes. */
export const usePayoutRows = (payout: Payout): UseQueryResult<Reading> => {
  const api = useApi();
  const params = { id: payout.payoutId };
  return useQuery({
    queryKey: queryKeyOf(listPayoutItems, { params, query: { format: "csv" } }),
    queryFn: async ({ signal }) => {
      const began = performance.now();
      const rows = parseRowsFile(await readRowsFile(api, payout.payoutId, signal));
      return { rows, tookMs: performance.now() - began };
    },
    refetchInterval: ({ state }) =>
      state.data === undefined || agrees(payout, state.data.rows)
        ? false
        : Math.max(REFRESH_MIN_MS, state.data.tookMs * REST),
  });
};
