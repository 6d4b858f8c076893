"use client";

import { History } from "lucide-react";
import { useRouter } from "next/navigation";
import { useCallback, useMemo, type ReactNode } from "react";
import { PagedCard } from "@/components/features/session/paged-card";
import { ChainName } from "@/components/ui/chain-name";
import { EmptyState } from "@/components/ui/empty-state";
import { RowLink } from "@/components/ui/row-link";
import { StatusBadge } from "@/components/ui/status-badge";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { useListKeys } from "@/components/ui/use-list-keys";
import { TokenAmountText } from "./amounts";
import { KIND_WORDS, pathOfTransfer } from "./kind-words";
import { usePrivateNames, type PrivateNames } from "./names";
import type { PrivateTransfer } from "./types";
import { usePrivateTransfers } from "./use-private";

const Way = ({ transfer, names }: { readonly transfer: PrivateTransfer; readonly names: PrivateNames }): ReactNode => {
  const own = names.walletName(transfer.privacyWalletId);
  return (
    <span className="text-fg-2">
      {transfer.kind === "shield" ? "Treasury" : own} <span aria-label="to">→</span>{" "}
      {transfer.kind === "shield" ? own : names.recipientName(transfer)}
    </span>
  );
};

const columnsOf = (names: PrivateNames): readonly Column<PrivateTransfer>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (transfer) => <RowLink href={pathOfTransfer(transfer)}>{KIND_WORDS[transfer.kind]}</RowLink>,
  },
  { id: "way", header: "From → to", bare: true, cell: (transfer) => <Way transfer={transfer} names={names} /> },
  {
    id: "chain",
    header: "Chain",
    phone: "hidden",
    priority: "low",
    className: "max-lg:hidden",
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

/** Private operations alone; the activity has them among everything that moved money. */
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

const HistoryTable = ({ transfers }: { readonly transfers: readonly PrivateTransfer[] }): ReactNode => {
  const router = useRouter();
  const names = usePrivateNames();
  const ids = transfers.map(({ transferId }) => transferId).join(" ");
  const keys = useMemo(() => ids.split(" "), [ids]);
  const onOpen = useCallback((id: string) => router.push(`/private/${id}`), [router]);
  const active = useListKeys({ keys, onOpen });
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
