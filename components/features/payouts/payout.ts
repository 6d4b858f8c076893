import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { ROW_STATUSES } from "@/lib/core/payout-facts";
import type { getPayoutSchedule } from "@/lib/contracts/payout-schedules";
import type { getPayout } from "@/lib/contracts/payouts";
import { payoutTitle } from "@/lib/core/titles";
import { isFinal } from "@/lib/core/status";
import { payoutQuery } from "./use-payouts";

export type Payout = ResponseOf<typeof getPayout>;
export type WalletsPayout = Extract<Payout, { kind: "wallets" }>;
export type AccountsPayout = Extract<Payout, { kind: "global_accounts" }>;
export type Schedule = ResponseOf<typeof getPayoutSchedule>;

/** The states of a row. Rows that pay accounts are only queued, paid or failed. */
export const ROW_STATES = [
  "paid",
  "confirmed",
  "sent",
  "unknown",
  "queued",
  "failed",
  "doubt",
  "cancelled",
] as const;
export type RowState = (typeof ROW_STATES)[number];

/**
 * Failure code of a row that another operation may have paid. The API counts such a row as failed.
 */
const IN_DOUBT = "source_replaced";

/**
 * The state of a row on the page. `unknown`: the row was sent, and the service checks whether the
 * chain accepted it. `doubt`: another operation may have paid the row, and a person decides.
 */
export const rowStateOf = (
  status: (typeof ROW_STATUSES)[number],
  failureCode: string,
): RowState => {
  if (status === "failed" && failureCode === IN_DOUBT) return "doubt";
  if (status === "pending") return "queued";
  return status === "completed" ? "paid" : status;
};

export type RowCounts = Readonly<Record<RowState, number>> & { readonly total: number };

export const countsOf = (payout: Payout): RowCounts => {
  if (payout.kind === "wallets") {
    const doubt = rowsInDoubt(payout);
    return { ...payout.items, failed: payout.items.failed - doubt, doubt };
  }
  const { total, pending, completed, failed } = payout.items;
  // The rows of a payout that ended before it started are still pending in the record.
  const ended = isFinal(payout.status) ? total - completed - failed : 0;
  const none = { sent: 0, confirmed: 0, unknown: 0, doubt: 0 };
  return { total, queued: pending, paid: completed, failed, ...none, cancelled: ended };
};

/**
 * The number of rows that are paid, failed, cancelled or in doubt. Their states do not change
 * unless a person acts.
 */
export const settledOf = ({ paid, failed, doubt, cancelled }: RowCounts): number =>
  paid + failed + doubt + cancelled;

export const awaitsApproval = ({
  status,
  subStatus,
}: Pick<Payout, "status" | "subStatus">): boolean =>
  status === "pending" && subStatus === "awaiting_approval";

/** Whether another operation may have paid rows of the payout, and nobody has decided it yet. */
export const isInDoubt = (payout: Payout): payout is WalletsPayout =>
  payout.kind === "wallets" && payout.doubts.length > 0;

/** The number of rows that another operation may have paid. */
export const rowsInDoubt = (payout: Payout): number =>
  isInDoubt(payout) ? payout.doubts.reduce((sum, { rows }) => sum + rows, 0) : 0;

/** The payout's page, with the approval open while the payout waits for it. */
export const pathOfPayout = (
  payout: Pick<Payout, "payoutId" | "status" | "subStatus">,
): string => `/payouts/${payout.payoutId}${awaitsApproval(payout) ? "?approve=true" : ""}`;

export const pathOfSchedule = ({ id, status }: Pick<Schedule, "id" | "status">): string =>
  `/payouts/schedules/${id}${status === "awaiting_approval" ? "?approve=true" : ""}`;

/** The effect of a failed row on the other rows of a payout between accounts. */
export const failureText = (mode: AccountsPayout["mode"] | undefined): string =>
  mode === "independent" ? "the others are paid" : "nothing is paid";

export interface Total {
  readonly unit: string;
  readonly amount: string;
  readonly paid: string;
}

/** The total of each token, in the order of its first row. */
export const totalsOf = (payout: Payout): readonly Total[] =>
  payout.kind === "wallets"
    ? payout.totals.map(({ token, amount, paid }) => ({ unit: token.symbol, amount, paid }))
    : [{ unit: payout.currency, amount: payout.total, paid: payout.paid }];

/** The title of a payout; without its amounts while amounts are hidden. */
export const titleOf = (
  payout: Payout,
  options: { readonly hidden: boolean; readonly locale: string },
): string =>
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
/**
 * The polling interval is the time since the last change, divided by this number: 1 s after 12 s, 5
 * s after a minute.
 */
const BACKOFF = 12;

/**
 * Time until the next request. It grows with the time since the last change, so it is short while
 * rows are paid.
 */
export const refreshMsOf = (
  payout: Pick<Payout, "status" | "updatedAt"> | undefined,
  now: number,
): number | false => {
  if (payout === undefined || isFinal(payout.status)) return false;
  if (payout.status !== "processing") return WAITING_MS;
  return Math.min(SLOW_MS, Math.max(BUSY_MS, (now - Date.parse(payout.updatedAt)) / BACKOFF));
};

/** A payout, refreshed until its status is final. */
export const usePayout = (id: string): UseQueryResult<Payout> =>
  useQuery({
    ...payoutQuery(id),
    refetchInterval: ({ state }) => refreshMsOf(state.data, Date.now()),
  });
