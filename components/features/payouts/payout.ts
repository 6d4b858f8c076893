import type { ResponseOf } from "@/lib/contracts/contract";
import type { ROW_STATUSES } from "@/lib/contracts/payout-records";
import type { getPayoutSchedule } from "@/lib/contracts/payout-schedules";
import type { getPayout } from "@/lib/contracts/payouts";
import { payoutTitle } from "@/lib/core/payout-title";
import { isFinal } from "@/lib/core/status";

export type Payout = ResponseOf<typeof getPayout>;
export type WalletsPayout = Extract<Payout, { kind: "wallets" }>;
export type AccountsPayout = Extract<Payout, { kind: "global_accounts" }>;
export type Schedule = ResponseOf<typeof getPayoutSchedule>;

/** State of one row, the same for both kinds: a row between accounts is queued, paid or failed. */
export const ROW_STATES = ["paid", "confirmed", "sent", "unknown", "queued", "failed", "doubt", "cancelled"] as const;
export type RowState = (typeof ROW_STATES)[number];

/** The API counts a row that another operation may have paid as failed; the code of its failure tells it apart. */
const IN_DOUBT = "source_replaced";

/**
 * `unknown`: it was offered to the chain, and whether it was taken is being checked; it is neither failed nor paid.
 * `doubt`: another operation may have paid it, and a person decides.
 */
export const rowStateOf = (status: (typeof ROW_STATUSES)[number], failureCode: string): RowState => {
  if (status === "failed" && failureCode === IN_DOUBT) return "doubt";
  return status === "pending" ? "queued" : status === "completed" ? "paid" : status;
};

export type RowCounts = Readonly<Record<RowState, number>> & { readonly total: number };

export const countsOf = (payout: Payout): RowCounts => {
  if (payout.kind === "wallets") {
    const doubt = rowsInDoubt(payout);
    return { ...payout.items, failed: payout.items.failed - doubt, doubt };
  }
  const { total, pending, completed, failed } = payout.items;
  // A payout that ended before it began still has its rows listed as waiting.
  const ended = isFinal(payout.status) ? total - completed - failed : 0;
  const none = { sent: 0, confirmed: 0, unknown: 0, doubt: 0 };
  return { total, queued: pending, paid: completed, failed, ...none, cancelled: ended };
};

/** Rows of which nothing more is expected without a person. */
export const settledOf = ({ paid, failed, doubt, cancelled }: RowCounts): number => paid + failed + doubt + cancelled;

export const awaitsApproval = ({ status, subStatus }: Pick<Payout, "status" | "subStatus">): boolean =>
  status === "pending" && subStatus === "awaiting_approval";

/** Another operation may have paid rows of it, and nobody has decided yet whether it did. */
export const isInDoubt = (payout: Payout): payout is WalletsPayout =>
  payout.kind === "wallets" && payout.doubts.length > 0;

/** The number of rows that another operation may have paid. */
export const rowsInDoubt = (payout: Payout): number =>
  isInDoubt(payout) ? payout.doubts.reduce((sum, { rows }) => sum + rows, 0) : 0;

/** Its page; open at the approval where it waits for that. */
export const pathOfPayout = (payout: Pick<Payout, "payoutId" | "status" | "subStatus">): string =>
  `/payouts/${payout.payoutId}${awaitsApproval(payout) ? "?approve=true" : ""}`;

export const pathOfSchedule = ({ scheduleId, status }: Pick<Schedule, "scheduleId" | "status">): string =>
  `/payouts/schedules/${scheduleId}${status === "awaiting_approval" ? "?approve=true" : ""}`;

export interface Total {
  readonly unit: string;
  readonly amount: string;
  readonly paid: string;
}

/** For each token, in the order of its first row. */
export const totalsOf = (payout: Payout): readonly Total[] =>
  payout.kind === "wallets"
    ? payout.totals.map(({ token, amount, paid }) => ({ unit: token.symbol, amount, paid }))
    : [{ unit: payout.currency, amount: payout.total, paid: payout.paid }];

/** The title of a payout; without its amounts while amounts are hidden. */
export const titleOf = (payout: Payout, options: { readonly hidden: boolean; readonly locale: string }): string =>
  payoutTitle(
    {
      reference: payout.reference,
      totals: totalsOf(payout).map(({ amount, unit }) => ({ amount, symbol: unit })),
      recipients: payout.items.total,
    },
    options,
  );

const BUSY_MS = 1_000;
const SLOW_MS = 5_000;
const WAITING_MS = 4_000;
/** Polling interval: a payout that has not changed for ten seconds is polled every second, after a minute every five. */
const BACKOFF = 12;

/** How soon to ask again: quickly while rows are paid, more slowly the longer nothing changes. */
export const refreshMsOf = (payout: Pick<Payout, "status" | "updatedAt"> | undefined, now: number): number | false => {
  if (payout === undefined || isFinal(payout.status)) return false;
  if (payout.status !== "processing") return WAITING_MS;
  return Math.min(SLOW_MS, Math.max(BUSY_MS, (now - Date.parse(payout.updatedAt)) / BACKOFF));
};
