import { isFinal } from "@/lib/core/status";
import type { PayoutView } from "./reading";

/** Whether rows failed, and none of the others may still fail or be paid. */
export const hasFailed = ({ payout }: PayoutView): boolean => isFinal(payout.status) && payout.itemsFailed > 0;

/** What can be asked of a payout now. The statements that change it decide anew: somebody else may have been quicker. */
export const mayOf = (view: PayoutView): { approve: boolean; cancel: boolean; retry: boolean } => {
  const { status, subStatus } = view.payout;
  const stoppable = view.kind === "wallets" && view.groups.some((group) => group.status === "queued");
  return {
    approve: status === "pending" && subStatus === "awaiting_approval",
    cancel: status === "pending" || (status === "processing" && stoppable),
    retry: hasFailed(view) && !view.isRetried,
  };
};
