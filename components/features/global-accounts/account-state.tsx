import { CircleSlash, Snowflake } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "@/components/ui/badge";
import type { Account } from "./account";

interface AccountStateProps {
  readonly account: Account;
}

/** Why an account cannot send or receive; renders nothing for an active account. */
export const AccountState = ({ account }: AccountStateProps): ReactNode => {
  const { status, statusReason } = account;
  const because = statusReason === null ? "" : ` Reason: ${statusReason}`;
  if (status === "active") return null;
  return status === "frozen" ? (
    <Badge
      tone="warning"
      icon={Snowflake}
      title={`Nothing goes in or out while it is frozen.${because}`}
    >
      Frozen
    </Badge>
  ) : (
    <Badge icon={CircleSlash} title={`Nothing goes in or out any more.${because}`}>
      Closed
    </Badge>
  );
};
