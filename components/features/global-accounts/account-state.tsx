import { CircleSlash, Snowflake } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";
import type { Account } from "./account";

/** Why an account takes no part in payments; nothing for an active one. */
export const AccountState = ({ account: { status, statusReason } }: { readonly account: Account }): ReactNode => {
  const because = statusReason === null ? "" : ` Reason: ${statusReason}`;
  if (status === "frozen") {
    return (
      <Badge tone="warning" icon={Snowflake} title={`Nothing goes in or out while it is frozen.${because}`}>
        Frozen
      </Badge>
    );
  }
  if (status === "closed") {
    return (
      <Badge icon={CircleSlash} title={`Nothing goes in or out any more.${because}`}>
        Closed
      </Badge>
    );
  }
  return null;
};
