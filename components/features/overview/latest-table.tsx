"use client";

import type { ReactNode } from "react";
import { Party } from "@/components/features/names/names";
import type { ListedOperation } from "@/components/features/operations/operation";
import { Amount, columnTail, type ColumnTail } from "@/components/ui/amount";
import { StatusBadge } from "@/components/ui/badge";
import { type Column, RowLink, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { OPERATION_WORDS } from "@/lib/core/titles";

/** The receiver, or the sender of a deposit. Empty when the chain records no sender. */
const Counterpart = ({
  operation: { deposit, quoted },
}: {
  readonly operation: ListedOperation;
}): ReactNode => {
  const address = deposit === null ? quoted.to.address : deposit.sender;
  return address === null ? null : (
    <span className="flex min-w-0 items-center gap-1.5 font-normal text-fg-2">
      {deposit === null ? "to" : "from"} <Party address={address} className="max-w-full" />
    </span>
  );
};

const movedOf = ({ status, quoted, actual }: ListedOperation) =>
  isFinal(status)
    ? { value: actual.received.amount, symbol: actual.received.token.symbol }
    : { value: quoted.to.minAmount, symbol: quoted.to.token.symbol };

const columnsOf = (tail: ColumnTail): readonly Column<ListedOperation>[] => [
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (operation) => (
      <span className="flex min-w-0 items-center gap-x-2 @max-[40rem]:flex-wrap">
        <RowLink className="shrink-0" href={`/activity/${operation.operationId}`}>
          {OPERATION_WORDS[operation.kind]}
        </RowLink>
        <Counterpart operation={operation} />
      </span>
    ),
  },
  {
    id: "to",
    header: "Received",
    align: "right",
    bare: true,
    cell: (operation) => {
      const { value, symbol } = movedOf(operation);
      const amount = <Amount value={value} unit={symbol} plain column={tail} />;
      return isFinal(operation.status) ? (
        amount
      ) : (
        <span className="text-fg-3" title="The minimum that will arrive">
          <span className="text-sm">min.</span> {amount}
        </span>
      );
    },
  },
  {
    id: "status",
    header: "Status",
    phone: "aside",
    cell: (operation) => (
      <StatusBadge status={operation.status} subStatus={operation.subStatus} />
    ),
  },
  {
    id: "time",
    header: "Started",
    align: "right",
    bare: true,
    cell: (operation) => <Time value={operation.createdAt} />,
  },
];

export const LatestTable = ({
  operations,
}: {
  readonly operations: readonly ListedOperation[];
}): ReactNode => (
  <Table
    caption="Latest activity"
    columns={columnsOf(columnTail(operations.map(movedOf)))}
    rows={operations}
    rowKey={(row) => row.operationId}
  />
);
