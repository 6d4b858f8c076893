"use client";

import type { ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { HeldAmount } from "@/components/ui/held-amount";
import { TokenName } from "@/components/ui/marks";
import { RowLink } from "@/components/ui/row-link";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { accountName, type Account } from "./account";
import { AccountState } from "./account-state";

const Balance = ({ account, part }: { account: Account; part: keyof Account["balance"] }): ReactNode => (
  <HeldAmount
    value={account.balance[part]}
    symbol={account.currency}
    className={part === "available" ? "font-medium" : "text-fg-2"}
  />
);

export const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  {
    id: "name",
    header: "Name",
    phone: "title",
    cell: (account) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <AddressMark value={account.id} />
        <RowLink href={`/accounts/${account.id}`}>{accountName(account)}</RowLink>
        <AccountState account={account} />
      </span>
    ),
  },
  { id: "currency", header: "Currency", bare: true, cell: (account) => <TokenName symbol={account.currency} /> },
  {
    id: "available",
    header: "Available",
    align: "right",
    phone: "aside",
    cell: (account) => <Balance account={account} part="available" />,
  },
  {
    id: "pending",
    header: "Pending",
    align: "right",
    phone: "hidden",
    priority: "medium",
    cell: (account) => <Balance account={account} part="pending" />,
  },
  { id: "posted", header: "Posted", align: "right", cell: (account) => <Balance account={account} part="posted" /> },
  {
    id: "opened",
    header: "Opened",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: (account) => <Time value={account.createdAt} />,
  },
];
