"use client";

import type { ReactNode } from "react";
import { Counterparty } from "@/components/features/deposits/counterparty";
import { Party } from "@/components/features/names/party";
import { KIND_WORDS } from "@/components/features/overview/latest-activity";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { RowLink } from "@/components/ui/row-link";
import { StatusBadge } from "@/components/ui/status-badge";
import type { Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { sumByAsset } from "./asset-sums";
import type { Operation } from "./types";

const Chains = ({ ids }: { readonly ids: readonly number[] }): ReactNode =>
  [...new Set(ids)].map((id, index) => (
    <span key={id}>
      {index === 0 ? "" : ", "}
      <ChainName chainId={id} />
    </span>
  ));

/** Of a deposit: who sent it, and the chain. Of a movement: its chains, and who receives it; a chain that it never leaves stands once. */
const Way = ({ operation: { quoted, deposit } }: { readonly operation: Operation }): ReactNode =>
  deposit !== null ? (
    <span className="text-fg-2">
      <Counterparty address={deposit.sender} /> <span aria-label="to">→</span> <ChainName chainId={deposit.chainId} />
    </span>
  ) : (
    <span className="text-fg-2">
      <Chains ids={quoted.from.map((source) => source.chainId)} /> <span aria-label="to">→</span>{" "}
      <Party address={quoted.to.address} />
      {quoted.from.every(({ chainId }) => chainId === quoted.to.chainId) ? null : (
        <>
          , <ChainName chainId={quoted.to.chainId} />
        </>
      )}
    </span>
  );

const Sent = ({ operation }: { readonly operation: Operation }): ReactNode => (
  <span className="flex flex-col items-end">
    {sumByAsset(operation.quoted.from).map((sum) => (
      <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} plain column />
    ))}
  </span>
);

/** The amount that arrived once the operation is final; before that, the promised amount. */
const Received = ({ operation: { status, actual, quoted, deposit } }: { readonly operation: Operation }): ReactNode =>
  isFinal(status) || deposit !== null ? (
    <Amount value={actual.received.amount} unit={actual.received.token.symbol} plain column />
  ) : (
    <span className="text-fg-3" title="The minimum that will arrive">
      <span className="text-sm">min.</span>{" "}
      <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} plain column />
    </span>
  );

export const ACTIVITY_COLUMNS: readonly Column<Operation>[] = [
  {
    id: "kind",
    header: "What",
    phone: "title",
    cell: (operation) => <RowLink href={`/activity/${operation.operationId}`}>{KIND_WORDS[operation.kind]}</RowLink>,
  },
  { id: "way", header: "From → to", bare: true, cell: (operation) => <Way operation={operation} /> },
  { id: "sent", header: "Sent", align: "right", cell: (operation) => <Sent operation={operation} /> },
  {
    id: "received",
    header: "Received",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: (operation) => <Received operation={operation} />,
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
    priority: "medium",
    // The width of the date that the server draws, so that no row changes its height when the browser writes "2 minutes ago".
    className: "@min-[40rem]:min-w-42",
    cell: (operation) => <Time value={operation.createdAt} />,
  },
];
