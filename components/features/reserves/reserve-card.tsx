"use client";

import { Check, CloudOff, Fuel } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { NamedAddress } from "@/components/features/names/named-address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/chain-name";
import { CopyButton } from "@/components/ui/copy-button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { formatAmount } from "@/lib/core/money";
import { CoveredBadge } from "./covered-badge";
import { HashValue } from "./hash-value";
import type { Reserve } from "./use-reserves";

type ChainPart = Reserve["chains"][number];

const Unknown = (): ReactNode => <span className="text-fg-3">not known</span>;

const columnsOf = (currency: string): readonly Column<ChainPart>[] => [
  { id: "chain", header: "Chain", phone: "title", cell: (part) => <ChainName chainId={part.chainId} /> },
  { id: "wallet", header: "Wallet", bare: true, priority: "medium", cell: (part) => <NamedAddress value={part.wallet} /> },
  {
    id: "block",
    header: "Block",
    align: "right",
    priority: "medium",
    cell: (part) =>
      part.stale ? (
        <Unknown />
      ) : (
        <span className="inline-flex items-center gap-0.5">
          <code className="num font-mono text-sm">{part.blockNumber}</code>
          <CopyButton value={part.blockNumber} label="Copy block number" />
        </span>
      ),
  },
  {
    id: "at",
    header: "Its time",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: (part) => (part.stale ? <Unknown /> : <Time value={part.at} />),
  },
  {
    id: "state",
    header: "State",
    bare: true,
    cell: (part) =>
      part.stale ? (
        <Badge tone="warning" icon={CloudOff} title="The chain does not answer; nothing of it is counted.">
          Not counted
        </Badge>
      ) : !part.backs ? (
        <Badge
          tone="neutral"
          icon={Fuel}
          title="The treasury pays its network fees on this chain with it, so it backs no account."
        >
          Kept for fees
        </Badge>
      ) : (
        <Badge tone="success" icon={Check}>
          Counted
        </Badge>
      ),
  },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    phone: "aside",
    cell: (part) => (
      <Amount value={part.amount} unit={currency} className={part.stale || !part.backs ? "text-fg-3" : "font-medium"} />
    ),
  },
];

/** Both sides of one currency: what is owed, and what is there. */
export const ReserveCard = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
  const { currency, chains, root } = reserve;
  const amount = (value: string): ReactNode => <Amount value={value} unit={currency} />;
  return (
    <Card
      flush
      title={
        <span className="flex flex-wrap items-center gap-2">
          {currency} <CoveredBadge covered={reserve.covered} />
        </span>
      }
      actions={
        <Link href={`/accounts?currency=${encodeURIComponent(currency)}`} className="link text-sm">
          Its accounts
        </Link>
      }
    >
      {chains.some((part) => part.stale && part.backs) ? (
        <Alert tone="warning" className="m-4 mb-0" title="A chain does not answer">
          What lies there is not counted until it does. Nothing of it is lost.
        </Alert>
      ) : null}
      <div className="grid grid-cols-1 md:grid-cols-2 md:divide-x">
        <Facts className="px-4 max-md:border-b">
          <Fact label="What the accounts hold" strong>
            {amount(reserve.liabilities)}
          </Fact>
          <Fact label="Number of accounts">{root?.accounts ?? 0}</Fact>
        </Facts>
        <Facts className="px-4">
          <Fact label="The treasury holds on chain" strong>
            {amount(reserve.onChain)}
          </Fact>
          <Fact label="Operations under way take out">{amount(reserve.committed)}</Fact>
          <Fact label="Available for accounts">{amount(reserve.available)}</Fact>
        </Facts>
      </div>
      <div className="border-t">
        <Table
          caption={`${currency} on chain`}
          columns={columnsOf(currency)}
          rows={chains}
          rowKey={(part) => String(part.chainId)}
        />
      </div>
      {root === null ? null : (
        <Facts className="border-t px-4">
          <Fact label="Root hash of the accounts">
            <HashValue value={root.hash} />
          </Fact>
          <Fact label="Sum under the root">{amount(formatAmount(BigInt(root.sumBase), reserve.decimals))}</Fact>
          <Fact label="Its state as of">
            <Time value={root.asOf} absolute />
          </Fact>
        </Facts>
      )}
    </Card>
  );
};
