import type { ReactNode } from "react";
import { StatusBadge } from "@/components/ui/status-badge";
import type { Payout } from "./payout";

/** "Partly completed" needs no further detail. */
export const PayoutStatus = ({ payout: { status, subStatus } }: { readonly payout: Payout }): ReactNode => (
  <StatusBadge status={status} subStatus={status === "partially_completed" ? null : subStatus} />
);
