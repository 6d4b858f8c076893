"use client";

import { useMutation } from "@tanstack/react-query";
import { Download, List } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useMemo, type ReactNode } from "react";
import { toast } from "sonner";
import { z } from "zod";
import { accountName, shortId } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { PagedSheet } from "@/components/features/session/paged-sheet";
import { useApi } from "@/components/features/session/use-api";
import { PublicId } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { describeError } from "@/components/ui/describe-error";
import { EmptyState } from "@/components/ui/empty-state";
import { saveFile } from "@/components/ui/save-file";
import { Select } from "@/components/ui/select";
import { StatusBadge } from "@/components/ui/status-badge";
import { Table, type Column } from "@/components/ui/table";
import { defineContract } from "@/lib/contracts/contract";
import { listPayoutItems, PAYOUT_ITEM_STATUSES } from "@/lib/contracts/payouts";
import type { Payout, PayoutItem } from "./payout";
import { usePayoutItems } from "./use-payouts";

/** The same route as a file. */
const itemsFile = defineContract({ ...listPayoutItems, response: z.string(), mediaType: "text/csv" });

const ALL = "all";
const ITEM_WORDS = { pending: "To go", completed: "Paid", failed: "Failed" } as const satisfies Record<
  PayoutItem["status"],
  string
>;

export const PayoutItems = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const [status, setStatus] = useQueryState(
    "items",
    parseAsStringLiteral(PAYOUT_ITEM_STATUSES).withOptions({ history: "replace" }),
  );
  const list = usePayoutItems(payout, status);
  const accounts = useKnownAccounts();
  const columns = useMemo(
    () => columnsFor(new Map(accounts.map((account) => [account.id, accountName(account)]))),
    [accounts],
  );
  return (
    <PagedSheet
      list={list}
      what="rows"
      title="Rows"
      money="The payout goes on without this page."
      actions={
        <>
          <Select
            label="State of the rows"
            value={status ?? ALL}
            onValueChange={(next) => void setStatus(PAYOUT_ITEM_STATUSES.find((one) => one === next) ?? null)}
            options={[
              { value: ALL, label: "All rows" },
              ...PAYOUT_ITEM_STATUSES.map((value) => ({ value, label: ITEM_WORDS[value] })),
            ]}
            className="h-8 w-32"
          />
          <ExportButton payoutId={payout.payoutId} />
        </>
      }
      empty={<EmptyState icon={List} title="No row is in this state" />}
    >
      {(items) => <Table caption="Rows" columns={columns} rows={items} rowKey={(item) => String(item.index)} />}
    </PagedSheet>
  );
};

const columnsFor = (names: ReadonlyMap<string, string>): readonly Column<PayoutItem>[] => [
  {
    id: "index",
    header: "Row",
    phone: "hidden",
    cell: (item) => <span className="num text-fg-3">{item.index + 1}</span>,
  },
  {
    id: "recipient",
    header: "Recipient",
    phone: "title",
    cell: (item) => (
      <span className="inline-flex items-center gap-0.5">
        <Link href={`/accounts/${item.recipientAccountId}`} className="link" title={item.recipientAccountId}>
          {names.get(item.recipientAccountId) ?? shortId(item.recipientAccountId)}
        </Link>
        <CopyButton value={item.recipientAccountId} label="Copy id of the recipient" />
      </span>
    ),
  },
  {
    id: "reference",
    header: "Reference",
    cell: (item) =>
      item.reference === null ? (
        <span className="text-fg-3">–</span>
      ) : (
        <span className="[overflow-wrap:anywhere]">{item.reference}</span>
      ),
  },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    cell: (item) => <Amount value={item.amount} unit={item.currency} />,
  },
  { id: "status", header: "Status", cell: (item) => <StatusBadge status={item.status} /> },
  {
    id: "why",
    header: "Reason or transaction",
    cell: (item) =>
      item.failure !== null ? (
        <span className="text-danger">{item.failure.message}</span>
      ) : item.transactionId === null ? (
        <span className="text-fg-3">none yet</span>
      ) : (
        <PublicId value={item.transactionId} />
      ),
  },
];

const ExportButton = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.call(itemsFile, { params: { id: payoutId }, query: { format: "csv" } }),
    onSuccess: (text) => saveFile(text, `${payoutId}.csv`),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <Button size="sm" loading={isPending} onClick={() => mutate()}>
      {isPending ? null : <Download aria-hidden />} Export CSV
    </Button>
  );
};
