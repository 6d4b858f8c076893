import { CircleAlert, CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";

/** Whether the treasury holds at least what the accounts do. */
export const CoveredBadge = ({ covered }: { readonly covered: boolean }): ReactNode =>
  covered ? (
    <Badge tone="success" icon={CircleCheck}>
      Covered
    </Badge>
  ) : (
    <Badge tone="danger" icon={CircleAlert}>
      Not covered
    </Badge>
  );
