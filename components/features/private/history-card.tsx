"use client";

import { History } from "lucide-react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { PagedCard } from "@/components/features/session/paged-card";
import { ChainName } from "@/components/ui/marks";
import { EmptyState } from "@/components/ui/states";
import { Shortened } from "@/components/ui/shortened";
import { type Column, RowLink, Table, useListKeys } from "@/components/ui/table";
import { StatusBadge } from "@/components/ui/badge";
import { Time } from "@/components/ui/time";
import { type PrivateTransfer, TokenAmountText } from "./parts";
import { type PrivateNames, usePrivateNames } from "./names";
import { KIND_WORDS, pathOfTransfer, usePrivateTransfers } from "./use-private";

const columnsOf = (names: PrivateNames): readonly Column<PrivateTransfer>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (transfer) => (
      <RowLink href={pathOfTransfer(transfer)}>{KIND_WORDS[transfer.kind]}</RowLink>
    ),
  },
  {
    id: "way",
    header: "From → to",
    bare: true,
    grow: true,
    cell: (transfer) => (
      <span className="flex min-w-0 items-center gap-x-1 text-fg-2">
        <Shortened>{names.payerName(transfer)}</Shortened>
        <span aria-label="to">→</span>
        <Shortened>{names.recipientName(transfer)}</Shortened>
      </span>
    ),
  },
  {
    id: "chain",
    header: "Chain",
    phone: "hidden",
    priority: "low",
    cell: ({ chainId }) => <ChainName chainId={chainId} />,
  },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    bare: true,
    cell: ({ amount }) => <TokenAmountText value={amount} />,
  },
  {
    id: "status",
    phone: "aside",
    header: "Status",
    cell: ({ status, subStatus }) => <StatusBadge status={status} subStatus={subStatus} />,
  },
  {
    id: "time",
    header: "Started",
    align: "right",
    phone: "hidden",
    cell: ({ createdAt }) => <Time value={createdAt} />,
  },
];

export const HistoryCard = (): ReactNode => {
  const list = usePrivateTransfers();
  return (
    <PagedCard
      list={list}
      what="private operations"
      money="Private operations that run go on without this page."
      title="History"
      empty={
        <EmptyState icon={History} title="Nothing private has moved yet">
          Shields, transfers, swaps and unshields appear here and under Activity.
        </EmptyState>
      }
    >
      {(transfers) => <HistoryTable transfers={transfers} />}
    </PagedCard>
  );
};

interface HistoryTableProps {
  readonly transfers: readonly PrivateTransfer[];
}

const HistoryTable = ({ transfers }: HistoryTableProps): ReactNode => {
  const router = useRouter();
  const names = usePrivateNames();
  const active = useListKeys({
    keys: transfers.map(({ transferId }) => transferId),
    onOpen: (transferId) => router.push(pathOfTransfer({ transferId })),
  });
  return (
    <Table
      caption="Private operations"
      columns={columnsOf(names)}
      rows={transfers}
      rowKey={({ transferId }) => transferId}
      activeKey={active}
    />
  );
};
