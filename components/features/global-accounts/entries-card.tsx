"use client";

import { ScrollText } from "lucide-react";
import { useCallback, useState, type ReactNode } from "react";
import { PagedCard } from "@/components/features/session/paged-card";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Table } from "@/components/ui/table";
import type { Account, Entry } from "./account";
import { useEntryColumns } from "./entry-columns";
import { mayTakeBack, TakeBackDialog } from "./take-back-dialog";
import { useEntries } from "./use-accounts";

/** Newest first. */
export const EntriesCard = ({ account }: { readonly account: Account }): ReactNode => {
  const [taken, setTaken] = useState<Entry | null>(null);
  const columns = useEntryColumns(
    account.currency,
    useCallback(
      (entry: Entry) =>
        mayTakeBack(entry) ? (
          <Button
            variant="link"
            className="h-5"
            aria-label={`Take back the funding of entry ${String(entry.seq)}`}
            onClick={() => setTaken(entry)}
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
          <Table caption="Entries" columns={columns} rows={entries} rowKey={(entry) => String(entry.seq)} />
        )}
      </PagedCard>
      <TakeBackDialog account={account} entry={taken} onClose={() => setTaken(null)} />
    </div>
  );
};
