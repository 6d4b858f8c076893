import type { ResponseOf } from "@/lib/contracts/contract";
import type { getPayout, listPayoutItems } from "@/lib/contracts/payouts";
import { isFinal } from "@/lib/core/status";

export type Payout = ResponseOf<typeof getPayout>;
export type PayoutItem = ResponseOf<typeof listPayoutItems>["data"][number];

export const awaitsApproval = ({ status, subStatus }: Pick<Payout, "status" | "subStatus">): boolean =>
  status === "pending" && subStatus === "awaiting_approval";

/** Its page; open at the approval where it waits for that. */
export const pathOfPayout = (payout: Pick<Payout, "payoutId" | "status" | "subStatus">): string =>
  `/payouts/${payout.payoutId}${awaitsApproval(payout) ? "?approve=true" : ""}`;

/** Nothing of it was posted yet. */
export const mayCancel = ({ status }: Pick<Payout, "status">): boolean => status === "pending";

/** In a payout of its own, of the failed rows alone. */
export const mayRetry = ({ status, items }: Pick<Payout, "status" | "items">): boolean =>
  isFinal(status) && items.failed > 0;

/** How often to ask again: quickly while rows are paid, slowly while it waits for a person. */
export const refreshMsOf = (payout: Pick<Payout, "status"> | undefined): number | false => {
  if (payout === undefined) return false;
  if (payout.status === "processing") return 1_000;
  return isFinal(payout.status) ? false : 4_000;
};
