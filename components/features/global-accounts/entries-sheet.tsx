"use client";

import { ScrollText } from "lucide-react";
import type { ReactNode } from "react";
import { PagedSheet } from "@/components/features/session/paged-sheet";
import { EmptyState } from "@/components/ui/empty-state";
import { Table } from "@/components/ui/table";
import { useEntryColumns } from "./entry-columns";
import { useEntries } from "./use-accounts";

/** Newest first. */
export const EntriesSheet = ({ accountId }: { readonly accountId: string }): ReactNode => {
  const columns = useEntryColumns();
  return (
    <div className="flex flex-col gap-4">
      <PagedSheet
        list={useEntries(accountId)}
        what="entries"
        money="What the account holds is untouched."
        empty={
          <EmptyState icon={ScrollText} title="No entries yet">
            Each movement stands here for good: entries are never changed or removed, only reversed by another.
          </EmptyState>
        }
      >
        {(entries) => (
          <Table caption="Entries" columns={columns} rows={entries} rowKey={(entry) => String(entry.seq)} />
        )}
      </PagedSheet>
    </div>
  );
};
