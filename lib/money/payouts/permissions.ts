import { isFinal } from "@/lib/core/status";
import type { PayoutView } from "./payout-view";

export const hasFailed = ({ payout }: PayoutView): boolean =>
  isFinal(payout.status) && payout.itemsFailed > 0;

/**
 * Whether another operation may have paid failed rows of the payout, and nobody has decided about
 * them yet.
 */
export const isInDoubt = (view: PayoutView): boolean =>
  view.kind === "wallets" && view.groups.some(({ doubts }) => doubts.length > 0);

const isRetryable = (view: PayoutView): boolean => {
  if (view.kind === "global_accounts") return true;
  const inBatches = view.groups.reduce((sum, { rows }) => sum + rows, 0);
  // Batches do not count rows that failed individually. `retryInput` checks the failure of each
  // such row when the payout is retried.
  return view.payout.itemsTotal > inBatches || view.groups.some(({ mayRetry }) => mayRetry);
};

/**
 * Returns the actions that the payout's state allows now. The state may change before an action
 * starts, so the statements that change the state check it again.
 */
export const mayOf = (
  view: PayoutView,
): { approve: boolean; cancel: boolean; retry: boolean } => {
  const { status, subStatus } = view.payout;
  const stoppable = view.kind === "wallets" && view.groups.some(({ mayStop }) => mayStop);
  return {
    approve: status === "pending" && subStatus === "awaiting_approval",
    cancel: status === "pending" || (status === "processing" && stoppable),
    retry: hasFailed(view) && !view.isRetried && isRetryable(view),
  };
};
