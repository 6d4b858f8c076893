"use client";

import type { ReactNode } from "react";
import { PublicId } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { RowLink } from "@/components/ui/row-link";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import type { Payout } from "./payout";
import { PayoutStatus } from "./payout-status";

const Rows = ({ payout: { items } }: { readonly payout: Payout }): ReactNode => (
  <span className="num">
    {items.completed.toLocaleString("en")} of {items.total.toLocaleString("en")} paid
    {items.failed === 0 ? null : <span className="text-danger">, {items.failed.toLocaleString("en")} failed</span>}
  </span>
);

export const PAYOUT_COLUMNS: readonly Column<Payout>[] = [
  {
    id: "reference",
    header: "Payout",
    phone: "title",
    cell: (payout) => (
      <RowLink href={`/payouts/${payout.payoutId}`} className="[overflow-wrap:anywhere]">
        {payout.reference ?? "Accounts"}
      </RowLink>
    ),
  },
  { id: "rows", header: "Rows", cell: (payout) => <Rows payout={payout} /> },
  {
    id: "total",
    header: "Total",
    align: "right",
    cell: (payout) => <Amount value={payout.total} unit={payout.currency} plain />,
  },
  {
    id: "status",
    header: "Status",
    cell: (payout) => <PayoutStatus payout={payout} />,
  },
  { id: "time", header: "Created", align: "right", cell: (payout) => <Time value={payout.createdAt} /> },
  { id: "id", header: "Id", align: "right", cell: (payout) => <PublicId value={payout.payoutId} /> },
];
