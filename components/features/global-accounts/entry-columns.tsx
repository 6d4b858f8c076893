"use client";

import Link from "next/link";
import { useMemo, type ReactNode } from "react";
import { AddressMark } from "@/components/ui/address-mark";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { cn } from "@/components/ui/cn";
import { CopyButton } from "@/components/ui/copy-button";
import { HeldAmount } from "@/components/ui/held-amount";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { shortId, type Entry } from "./account";
import { causeOf, kindText } from "./entry-cause";

/** Draws the actions of an entry beside its kind. */
type ActionOf = (entry: Entry) => ReactNode;
const NO_ACTION: ActionOf = () => null;

const Counterparty = ({ id, name }: { readonly id: string | null; readonly name: string | null }): ReactNode =>
  id === null ? (
    <span className="text-fg-3 @max-[40rem]:hidden">–</span>
  ) : (
    <span className="inline-flex max-w-48 min-w-0 items-center gap-1.5 align-middle">
      <AddressMark value={id} />
      <Link href={`/accounts/${id}`} className="link truncate" title={id}>
        {name ?? shortId(id)}
      </Link>
    </span>
  );

/** The payout or funding that caused the entry. The id of the ledger's transaction can be copied. */
const Cause = ({ entry }: { readonly entry: Entry }): ReactNode => {
  const cause = causeOf(entry);
  return (
    <span className={cn("inline-flex min-w-0 items-center justify-end gap-1", cause === null && "@max-[40rem]:hidden")}>
      {cause === null ? (
        <span className="text-fg-3">–</span>
      ) : (
        <Link href={cause.href} className="link truncate">
          {cause.text}
        </Link>
      )}
      <CopyButton value={entry.transactionId} label={`Copy the id of the transaction of entry ${String(entry.seq)}`} />
    </span>
  );
};

const columnsFor = (currency: string, actionOf: ActionOf): readonly Column<Entry>[] => [
  {
    id: "seq",
    header: "No.",
    cell: (entry) => <span className="num text-fg-3">{entry.seq}</span>,
    phone: "hidden",
    priority: "low",
  },
  { id: "time", header: "When", bare: true, cell: (entry) => <Time value={entry.createdAt} absolute /> },
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (entry) => (
      <span className="inline-flex flex-wrap items-center gap-2">
        {kindText(entry.kind)}
        {entry.reversedBy === null ? actionOf(entry) : <Badge tone="neutral">Taken back</Badge>}
      </span>
    ),
  },
  {
    id: "counterparty",
    header: "Other account",
    bare: true,
    priority: "medium",
    cell: (entry) => <Counterparty id={entry.counterpartyId} name={entry.counterpartyName} />,
  },
  {
    id: "reference",
    header: "Reference",
    phone: "hidden",
    priority: "low",
    cell: (entry) =>
      entry.reference === null ? (
        <span className="text-fg-3">–</span>
      ) : (
        <span className="break-words [overflow-wrap:anywhere]">{entry.reference}</span>
      ),
  },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    phone: "aside",
    cell: (entry) => (
      <Amount
        value={entry.amount}
        symbol={currency}
        signed
        className={entry.amount.startsWith("-") ? "text-fg" : "text-success"}
      />
    ),
  },
  {
    id: "balance",
    header: "Balance",
    align: "right",
    cell: (entry) => <HeldAmount value={entry.balanceAfter} symbol={currency} className="font-medium" />,
  },
  {
    id: "transaction",
    header: "Caused by",
    align: "right",
    bare: true,
    cell: (entry) => <Cause entry={entry} />,
  },
];

/** Of entries of an account in this currency. */
export const useEntryColumns = (currency: string, actionOf: ActionOf = NO_ACTION): readonly Column<Entry>[] =>
  useMemo(() => columnsFor(currency, actionOf), [currency, actionOf]);
