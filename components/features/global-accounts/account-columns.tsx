"use client";

import type { ReactNode } from "react";
import { PublicId } from "@/components/ui/address";

import { HeldAmount } from "@/components/ui/held-amount";
import { RowLink } from "@/components/ui/row-link";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { accountName, type Account } from "./account";
import { AccountState } from "./account-state";

const Balance = ({ account, part }: { account: Account; part: keyof Account["balance"] }): ReactNode => (
  <HeldAmount value={account.balance[part]} className={part === "available" ? "font-medium" : "text-fg-2"} />
);

export const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  {
    id: "name",
    header: "Name",
    phone: "title",
    cell: (account) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        <RowLink href={`/accounts/${account.id}`}>{accountName(account)}</RowLink>
        <AccountState account={account} />
      </span>
    ),
  },
  { id: "currency", header: "Currency", cell: (account) => account.currency },
  {
    id: "available",
    header: "Available",
    align: "right",
    cell: (account) => <Balance account={account} part="available" />,
  },
  {
    id: "pending",
    header: "Pending",
    align: "right",
    phone: "hidden",
    cell: (account) => <Balance account={account} part="pending" />,
  },
  { id: "posted", header: "Posted", align: "right", cell: (account) => <Balance account={account} part="posted" /> },
  {
    id: "opened",
    header: "Opened",
    align: "right",
    phone: "hidden",
    cell: (account) => <Time value={account.createdAt} />,
  },
  { id: "id", header: "Id", align: "right", cell: (account) => <PublicId value={account.id} /> },
];
