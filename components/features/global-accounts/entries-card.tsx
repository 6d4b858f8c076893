"use client";

import { ScrollText } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { PagedCard } from "@/components/features/session/paged-card";
import { useCache, useSentOnce } from "@/components/features/session/use-api";
import { AddressMark } from "@/components/ui/address";
import { Amount, HeldAmount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { ActionDialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/states";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { type Column, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { Shortened } from "@/components/ui/shortened";
import { toast } from "@/components/ui/toast";
import {
  getReserves,
  listEntries,
  listGlobalAccounts,
  reverseFunding,
} from "@/lib/api-client/calls.gen";
import {
  type Account,
  accountName,
  accountQuery,
  type Entry,
  shortId,
  useEntries,
} from "./account";
import { causeOf, kindText } from "./entry-cause";

export const EntriesCard = ({ account }: { readonly account: Account }): ReactNode => {
  const [takenBack, setTakenBack] = useState<Entry | null>(null);
  const columns = useEntryColumns(
    account.currency,
    useCallback(
      (entry: Entry) =>
        mayTakeBack(entry) ? (
          <Button
            variant="link"
            className="h-5"
            aria-label={`Take back the funding of entry ${String(entry.seq)}`}
            onClick={() => setTakenBack(entry)}
          >
            Take back
          </Button>
        ) : null,
      [],
    ),
  );
  return (
    <div className="flex flex-col gap-4">
      <PagedCard
        list={useEntries(account.id)}
        what="entries"
        money="The money in the account is untouched."
        empty={
          <EmptyState icon={ScrollText} title="No entries yet">
            Entries are never changed or removed. A mistake is reversed by another entry.
          </EmptyState>
        }
      >
        {(entries) => (
          <Table
            caption="Entries"
            columns={columns}
            rows={entries}
            rowKey={(entry) => String(entry.seq)}
          />
        )}
      </PagedCard>
      <TakeBackDialog account={account} entry={takenBack} onClose={() => setTakenBack(null)} />
    </div>
  );
};

const mayTakeBack = (entry: Entry): boolean =>
  entry.kind === "funding" && entry.reversedBy === null;

interface TakeBackDialogProps {
  readonly account: Account;
  readonly entry: Entry | null;
  readonly onClose: () => void;
}

const TakeBackDialog = ({ account, entry, onClose }: TakeBackDialogProps): ReactNode => {
  const cache = useCache();
  const { mutation, send } = useSentOnce(reverseFunding);
  const hideable = useHideableText();
  const takeBack = async (): Promise<void> => {
    if (entry === null) return;
    const params = { id: account.id };
    const { amount } = await send({ params, body: { transactionId: entry.transactionId } });
    void cache.refresh(accountQuery(account.id), listGlobalAccounts, listEntries, getReserves);
    toast.success(hideable(`${amount} ${account.currency} of the treasury are free again.`));
  };
  return (
    <ActionDialog
      open={entry !== null}
      onClose={onClose}
      title="Take this funding back?"
      description={
        <p>
          <Amount value={entry?.amount ?? "0"} unit={account.currency} /> leave{" "}
          {accountName(account)}, and the treasury may use them again. Nothing moves on chain.
          Both entries stay; the account can be funded again.
        </p>
      }
      action={mutation}
      money="The account is as it was."
      confirmLabel="Take back"
      cancelLabel="Leave it"
      onConfirm={takeBack}
    />
  );
};

type ActionOf = (entry: Entry) => ReactNode;
const NO_ACTION: ActionOf = () => null;

interface EntryProps {
  readonly entry: Entry;
}

const Counterparty = ({ entry }: EntryProps): ReactNode => {
  const { counterpartyId: id, counterpartyName: name } = entry;
  if (id === null) return <span className="text-fg-3 @max-[40rem]:hidden">–</span>;
  return (
    <span className="inline-flex max-w-48 min-w-0 items-center gap-1.5 align-middle">
      <AddressMark value={id} />
      <Link
        href={`/accounts/${id}`}
        className="link truncate"
        title={`${name ?? shortId(id)}, ${id}`}
      >
        {name ?? shortId(id)}
      </Link>
    </span>
  );
};

const Cause = ({ entry }: EntryProps): ReactNode => {
  const cause = causeOf(entry);
  return (
    <span
      className={cn(
        "inline-flex min-w-0 items-center justify-end gap-1",
        cause === null && "@max-[40rem]:hidden",
      )}
    >
      {cause === null ? (
        <span className="text-fg-3">–</span>
      ) : (
        <Link href={cause.href} className="link">
          {cause.text}
        </Link>
      )}
      <CopyButton
        className="-mr-1.25"
        value={entry.transactionId}
        label={`Copy the id of the transaction of entry ${String(entry.seq)}`}
      />
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
  {
    id: "time",
    header: "When",
    bare: true,
    cell: (entry) => <Time value={entry.createdAt} absolute />,
  },
  {
    id: "kind",
    header: "What",
    phone: "title",
    className: "@min-[40rem]:w-full",
    grow: false,
    cell: (entry) => (
      <span className="inline-flex items-center gap-2 @max-[40rem]:flex-wrap">
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
    cell: (entry) => <Counterparty entry={entry} />,
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
        <Shortened className="inline-block max-w-40 align-middle">{entry.reference}</Shortened>
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
    cell: (entry) => (
      <HeldAmount value={entry.balanceAfter} symbol={currency} className="font-medium" />
    ),
  },
  {
    id: "transaction",
    header: "Caused by",
    align: "right",
    bare: true,
    cell: (entry) => <Cause entry={entry} />,
  },
];

export const useEntryColumns = (
  currency: string,
  actionOf: ActionOf = NO_ACTION,
): readonly Column<Entry>[] =>
  useMemo(() => columnsFor(currency, actionOf), [currency, actionOf]);
