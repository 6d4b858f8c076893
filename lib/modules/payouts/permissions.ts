import { isFinal } from "@/lib/core/status";
import { notReadable } from "./errors";
import type { PayoutView } from "./read-payouts";

/** Whether the payout has ended with failed rows. */
export const hasFailed = ({ payout }: PayoutView): boolean => isFinal(payout.status) && payout.itemsFailed > 0;

/** Whether another operation may have paid failed rows, and nobody has decided about them. */
export const isInDoubt = (view: PayoutView): boolean =>
  view.kind === "wallets" && view.groups.some(({ doubts }) => doubts.length > 0);

/** Whether any of the failed rows may be paid by another payout. */
const isRetryable = (view: PayoutView): boolean => {
  if (view.kind === "global_accounts") return true;
  const inBatches = view.groups.reduce((sum, { rows }) => sum + rows, 0);
  // Rows that failed separately are not in the counts of their batches. The retry reads the reason of each such row.
  return view.payout.itemsTotal > inBatches || view.groups.some(({ mayRetry }) => mayRetry);
};

/** The actions that the payout's state allows now. The statements that change the state check it again, because it may change meanwhile. */
export const mayOf = (view: PayoutView): { approve: boolean; cancel: boolean; retry: boolean } => {
  const { status, subStatus, unread } = view.payout;
  if (unread === true) return { approve: false, cancel: false, retry: false };
  const stoppable = view.kind === "wallets" && view.groups.some(({ mayStop }) => mayStop);
  return {
    approve: status === "pending" && subStatus === "awaiting_approval",
    cancel: status === "pending" || (status === "processing" && stoppable),
    retry: hasFailed(view) && !view.isRetried && isRetryable(view),
  };
};

/** @throws DomainError `invalid_state` when this version cannot read all of the payout */
export const requireReadable = ({ payout }: Pick<PayoutView, "payout">): void => {
  if (payout.unread === true) throw notReadable();
};
