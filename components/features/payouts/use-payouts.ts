import { apiPages, apiQuery, PAGE_ROWS } from "@/components/features/session/api-query";
import { useCache } from "@/components/features/session/use-api";
import { type Pages, usePages } from "@/components/features/session/use-lists";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { PAYOUT_KINDS } from "@/lib/core/payout-facts";
import { exportPayoutItems, getPayout, listPayouts } from "@/lib/api-client/calls.gen";
import type { Status } from "@/lib/core/status";

type Payout = ResponseOf<typeof getPayout>;

/**
 * Polling interval while payouts are paid. They are polled, because the stream of changes has no
 * event for each paid row.
 */
const BUSY_REFRESH_MS = 2_000;

export interface PayoutFilters {
  readonly status: Status | null;
  readonly kind: (typeof PAYOUT_KINDS)[number] | null;
}

/** Payouts, newest first. */
export const payoutPages = ({ status, kind }: PayoutFilters) =>
  apiPages(listPayouts, {
    query: { limit: PAGE_ROWS, status: status ?? undefined, kind: kind ?? undefined },
  });

export const usePayoutList = (filters: PayoutFilters): Pages<Payout> =>
  usePages(payoutPages(filters), (payouts) =>
    payouts.some((one) => one.status === "processing") ? BUSY_REFRESH_MS : null,
  );

/** The newest payouts, for pages that refresh them themselves. */
export const newestPayoutsQuery = (limit: number) =>
  apiQuery(listPayouts, { query: { limit } });

export const payoutQuery = (id: string) => apiQuery(getPayout, { params: { id } });

/** Stores a fresh record of a payout in the cache, and reads its rows and the lists again. */
export const useTakeOver = (): ((payout: Payout) => void) => {
  const cache = useCache();
  return (payout) => {
    cache.set(payoutQuery(payout.payoutId), payout);
    void cache.refresh(listPayouts, exportPayoutItems);
  };
};
