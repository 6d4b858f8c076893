import { isFinal } from "@/lib/core/status";
import type { PayoutView } from "./read-payouts";

/** Whether rows failed, and none of the others may still fail or be paid. */
export const hasFailed = ({ payout }: PayoutView): boolean => isFinal(payout.status) && payout.itemsFailed > 0;

/** Whether any of the failed rows may be paid by another payout. */
const isRetryable = (view: PayoutView): boolean => {
  if (view.kind === "global_accounts") return true;
  const inBatches = view.groups.reduce((sum, { rows }) => sum + rows, 0);
  // Rows that were set aside one by one belong to no batch's count any more; their own reasons are read when the retry is made.
  return view.payout.itemsTotal > inBatches || view.groups.some(({ mayRetry }) => mayRetry);
};

/** What can be asked of a payout now. The statements that change it decide anew: somebody else may have been quicker. */
export const mayOf = (view: PayoutView): { approve: boolean; cancel: boolean; retry: boolean } => {
  const { status, subStatus } = view.payout;
  const stoppable = view.kind === "wallets" && view.groups.some(({ mayStop }) => mayStop);
  return {
    approve: status === "pending" && subStatus === "awaiting_approval",
    cancel: status === "pending" || (status === "processing" && stoppable),
    retry: hasFailed(view) && !view.isRetried && isRetryable(view),
  };
};
