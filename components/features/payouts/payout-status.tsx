import type { ReactNode } from "react";
import { StatusBadge } from "@/components/ui/status-badge";
import type { Payout } from "./payout";

export const PayoutStatus = ({ payout: { status, subStatus } }: { readonly payout: Payout }): ReactNode => (
  <StatusBadge status={status} subStatus={subStatus} />
);
