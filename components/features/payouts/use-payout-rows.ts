"use client";

import { useQuery } from "@tanstack/react-query";
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleHelp,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  SearchX,
} from "lucide-react";
import { queryKeyOf } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import type { Tone } from "@/components/ui/badge";
import type { QueryState } from "@/components/ui/states";
import { exportPayoutItems } from "@/lib/api-client/calls.gen";
import type { ApiClient } from "@/lib/api-client/client";
import { isFinal } from "@/lib/core/status";
import { countsOf, type Payout, ROW_STATES, type RowState } from "./payout";
import { parseRowsFile, type PayoutRow } from "./rows-file";

const REFRESH_MIN_MS = 700;
/**
 * Pause between two reads, as a multiple of the time that a read takes. With this value, reading
 * takes a fifth of the total time.
 */
const REST = 4;

export const readRowsFile = (
  api: ApiClient,
  payoutId: string,
  signal?: AbortSignal,
): Promise<string> => api.call(exportPayoutItems, { params: { id: payoutId }, signal });

/** Whether the states of the rows match the counts in the payout's record. */
const agrees = (payout: Payout, rows: readonly PayoutRow[]): boolean => {
  const counts = countsOf(payout);
  const seen = new Map<string, number>();
  for (const { state } of rows) seen.set(state, (seen.get(state) ?? 0) + 1);
  // Queued rows are not compared, because rows of a payout between accounts that never started
  // stay "pending".
  if (payout.kind === "global_accounts")
    return (
      (seen.get("paid") ?? 0) === counts.paid && (seen.get("failed") ?? 0) === counts.failed
    );
  return ROW_STATES.every((state) => (seen.get(state) ?? 0) === counts[state]);
};

/**
 * The rows to show beside the record; undefined while they are read. Rows that were read before the
 * payout ended are not shown, because "Completed" would appear above a row that is "Queued".
 */
export const rowsToShow = (
  payout: Payout,
  rows: readonly PayoutRow[] | undefined,
): readonly PayoutRow[] | undefined =>
  rows !== undefined && isFinal(payout.status) && !agrees(payout, rows) ? undefined : rows;

/**
 * All rows in their order. They are read again while their states differ from the record's counts.
 * The longer a read takes, the longer is the pause before the next read.
 */
export const usePayoutRows = (payout: Payout): QueryState<readonly PayoutRow[]> => {
  const api = useApi();
  const params = { id: payout.payoutId };
  const query = useQuery({
    queryKey: queryKeyOf(exportPayoutItems, { params }),
    queryFn: async ({ signal }) => {
      const began = performance.now();
      const rows = parseRowsFile(await readRowsFile(api, payout.payoutId, signal));
      return { rows, tookMs: performance.now() - began };
    },
    refetchInterval: ({ state: { data } }) => {
      if (data === undefined || agrees(payout, data.rows)) return false;
      return Math.max(REFRESH_MIN_MS, data.tookMs * REST);
    },
  });
  const data = rowsToShow(payout, query.data?.rows);
  return { ...query, data, isPending: data === undefined && query.error === null };
};

export interface RowStateView {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
  /** Classes of the row's cell in the picture. */
  readonly cell: string;
  /** CSS colour of the row's cell on the canvas. */
  readonly color: string;
  /** CSS colour of the cell's edge on the canvas; left out for cells without an edge. */
  readonly edge?: string;
}

export const ROW_VIEWS = {
  paid: {
    word: "Paid",
    tone: "success",
    icon: CircleCheck,
    cell: "bg-success",
    color: "var(--success)",
  },
  confirmed: {
    word: "Confirmed",
    tone: "info",
    icon: CircleDot,
    cell: "bg-accent",
    color: "var(--accent)",
  },
  sent: {
    word: "Sent",
    tone: "info",
    icon: LoaderCircle,
    cell: "bg-sent",
    color: "var(--sent)",
  },
  unknown: {
    word: "Being checked",
    tone: "warning",
    icon: SearchX,
    cell: "bg-warning",
    color: "var(--warning)",
  },
  queued: {
    word: "Queued",
    tone: "neutral",
    icon: CircleDashed,
    cell: "bg-border",
    color: "var(--border)",
  },
  failed: {
    word: "Failed",
    tone: "danger",
    icon: CircleX,
    cell: "bg-danger",
    color: "var(--danger)",
  },
  doubt: {
    word: "In doubt",
    tone: "warning",
    icon: CircleHelp,
    // Hollow, to differ from the filled cells of rows that are being checked, which have the same
    // colour.
    cell: "border border-warning bg-warning-tint",
    color: "var(--warning-tint)",
    edge: "var(--warning)",
  },
  cancelled: {
    word: "Not sent",
    tone: "neutral",
    icon: Ban,
    cell: "bg-control",
    color: "var(--control)",
  },
} as const satisfies Record<RowState, RowStateView>;

/**
 * The reason of a failure, otherwise the word for the state. All rows in doubt have the same
 * reason, which the page shows once.
 */
export const stateText = ({ state, failure }: Pick<PayoutRow, "state" | "failure">): string =>
  failure === "" || state === "doubt" ? ROW_VIEWS[state].word : failure;
