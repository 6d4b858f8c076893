"use client";

import { List } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Party } from "@/components/features/names/party";
import { Amount, columnDigits, type ColumnDigits } from "@/components/ui/amount";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { RowLink } from "@/components/ui/row-link";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { StatusBadge } from "@/components/ui/status-badge";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { useOperations, type Operation } from "./use-operations";
import { OPERATION_WORDS } from "@/lib/core/operation-words";

const SHOWN = 5;

/** Who receives it, or who sent a deposit; nothing where the chain does not tell that. */
const Counterpart = ({ operation: { deposit, quoted } }: { readonly operation: Operation }): ReactNode => {
  const address = deposit === null ? quoted.to.address : deposit.sender;
  return address === null ? null : (
    <span className="flex min-w-0 items-center gap-1.5 text-fg-2">
      {deposit === null ? "to" : "from"} <Party address={address} />
    </span>
  );
};

const symbolOf = ({ status, quoted, actual }: Operation): string =>
  (isFinal(status) ? actual.received : quoted.to).token.symbol;

const columnsOf = (digits: ColumnDigits): readonly Column<Operation>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (operation) => (
      <span className="flex flex-wrap items-center gap-x-2">
        <RowLink href={`/activity/${operation.operationId}`}>{OPERATION_WORDS[operation.kind]}</RowLink>
        <Counterpart operation={operation} />
      </span>
    ),
  },
  {
    id: "to",
    header: "Received",
    align: "right",
    bare: true,
    cell: ({ status, quoted, actual }) =>
      isFinal(status) ? (
        <Amount value={actual.received.amount} unit={actual.received.token.symbol} plain column={digits} />
      ) : (
        <span className="text-fg-3" title="The minimum that will arrive">
          <span className="text-sm">min.</span>{" "}
          <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} plain column={digits} />
        </span>
      ),
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (operation) => <StatusBadge status={operation.status} subStatus={operation.subStatus} />,
  },
  {
    id: "time",
    header: "Started",
    align: "right",
    bare: true,
    cell: (operation) => <Time value={operation.createdAt} />,
  },
];

export const LatestActivity = (): ReactNode => {
  const { data, error, isPending, refetch } = useOperations({ limit: SHOWN });
  return (
    <Card
      title="Latest activity"
      flush
      actions={
        <Link href="/activity" className="link text-sm">
          All activity
        </Link>
      }
    >
      {isPending ? (
        <LoadingRows what="activity" />
      ) : data === undefined ? (
        <ErrorState error={error} money="Operations that run go on without this page." onRetry={() => void refetch()} />
      ) : data.data.length === 0 ? (
        <EmptyState icon={List} title="Nothing has moved yet">
          Swaps, transfers and deposits appear here.{" "}
          <Link className="link" href="/swap">
            Make the first one
          </Link>
          .
        </EmptyState>
      ) : (
        <Table
          caption="Latest activity"
          columns={columnsOf(columnDigits(data.data.map(symbolOf)))}
          rows={data.data}
          rowKey={(row) => row.operationId}
        />
      )}
    </Card>
  );
};
