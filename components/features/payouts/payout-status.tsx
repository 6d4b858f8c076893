import { CircleHelp } from "lucide-react";
import type { ReactNode } from "react";
import { Badge, StatusBadge } from "@/components/ui/badge";
import { countsOf, isInDoubt, type Payout } from "./payout";

const InDoubt = (): ReactNode => (
  <Badge tone="warning" icon={CircleHelp} title="It may have been paid, and needs a decision">
    In doubt, needs a decision
  </Badge>
);

/** The status of a payout. "Failed" is left out when all failed rows are in doubt. */
export const PayoutStatus = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const { status, subStatus } = payout;
  const badge = <StatusBadge status={status} subStatus={subStatus} />;
  if (!isInDoubt(payout)) return badge;
  return status === "failed" && countsOf(payout).failed === 0 ? (
    <InDoubt />
  ) : (
    <span className="inline-flex flex-wrap gap-1">
      {badge}
      <InDoubt />
    </span>
  );
};
