import { Snowflake } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";

export const FrozenBadge = (): ReactNode => (
  <Badge tone="warning" icon={Snowflake} title="Nothing goes in or out while it is frozen.">
    Frozen
  </Badge>
);
