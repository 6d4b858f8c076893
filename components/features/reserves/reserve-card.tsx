"use client";

import { Check, ChevronRight, CloudOff, Fuel } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { isZero } from "@/components/features/overview/sums";
import { NamedAddress } from "@/components/features/names/named-address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/chain-name";
import { CopyButton } from "@/components/ui/copy-button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import { TokenMark } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { formatAmount } from "@/lib/core/money";
import { useLocale } from "@/components/ui/use-locale";
import { coverageTenths, coverageText } from "./coverage";
import { CoveredBadge } from "./covered-badge";
import { HashValue } from "./hash-value";
import type { Reserve } from "./use-reserves";

type ChainPart = Reserve["chains"][number];

const Unknown = (): ReactNode => <span className="text-fg-3">not known</span>;

const columnsOf = (currency: string): readonly Column<ChainPart>[] => [
  { id: "chain", header: "Chain", phone: "title", cell: (part) => <ChainName chainId={part.chainId} /> },
  {
    id: "wallet",
    header: "Wallet",
    bare: true,
    priority: "medium",
    cell: (part) => <NamedAddress value={part.wallet} />,
  },
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

const amountIn =
  (currency: string) =>
  (value: string): ReactNode => <Amount value={value} unit={currency} />;

/** The one number that says whether the accounts are backed. */
const Coverage = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
  const locale = useLocale();
  const tenths = coverageTenths(reserve);
  const amount = amountIn(reserve.currency);
  if (tenths === null)
    return (
      <p className="flex flex-wrap justify-between gap-x-8 px-4 py-2.5 text-fg-2">
        <span>The accounts hold nothing.</span>
        <span>Available for accounts {amount(reserve.available)}</span>
      </p>
    );
  return (
    <div className="flex flex-wrap items-end justify-between gap-x-8 gap-y-3 px-4 py-3">
      <p className="flex flex-col">
        <span className="text-sm text-fg-2">Coverage</span>
        <span className="num text-3xl font-semibold">{coverageText(tenths, locale)}</span>
        <span className="text-sm text-fg-3">of the accounts' money is there</span>
      </p>
      <dl className="grid w-full gap-x-8 gap-y-2 sm:flex sm:w-auto sm:text-right">
        <Side label="The accounts hold">{amount(reserve.liabilities)}</Side>
        {isZero(reserve.inTransit) ? null : <Side label="Withdrawals in transit">{amount(reserve.inTransit)}</Side>}
        <Side label="The treasury holds on chain">{amount(reserve.onChain)}</Side>
        <Side label="Available for accounts">{amount(reserve.available)}</Side>
      </dl>
    </div>
  );
};

const Side = ({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode => (
  <div className="flex justify-between gap-4 sm:block">
    <dt className="text-sm text-fg-2">{label}</dt>
    <dd className="font-medium">{children}</dd>
  </div>
);

/** Both sides of one currency: the liabilities, and the money that backs them. The coverage stands first, its proof is folded away. */
export const ReserveCard = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
  const { currency, chains } = reserve;
  return (
    <Card
      flush
      title={
        <span className="flex flex-wrap items-center gap-2">
          <TokenMark symbol={currency} /> {currency} <CoveredBadge covered={reserve.covered} />
        </span>
      }
      actions={
        <Link href={`/accounts?currency=${encodeURIComponent(currency)}`} className="link text-sm">
          {currency} accounts
        </Link>
      }
    >
      <Coverage reserve={reserve} />
      {chains.some((part) => part.stale && part.backs) ? (
        <Alert tone="warning" className="m-4 mt-0" title="A chain does not answer">
          Its balances are not counted until it does. No money is lost.
        </Alert>
      ) : null}
      <details className="group border-t">
        <summary className="flex h-10 cursor-pointer list-none items-center gap-2 px-4 text-fg-2 hover:text-fg">
          <ChevronRight
            className="size-4 shrink-0 transition-transform duration-150 group-open:rotate-90"
            aria-hidden
          />
          Chains, blocks and proof
        </summary>
        <Details reserve={reserve} />
      </details>
    </Card>
  );
};

const Details = ({
  reserve: { currency, chains, root, committed, decimals },
}: {
  readonly reserve: Reserve;
}): ReactNode => {
  const amount = amountIn(currency);
  return (
    <>
      <Facts className="border-t px-4">
        <Fact label="Number of accounts">{root?.accounts ?? 0}</Fact>
        <Fact label="Operations under way take out">{amount(committed)}</Fact>
      </Facts>
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
          <Fact label="Sum under the root">{amount(formatAmount(BigInt(root.sumBase), decimals))}</Fact>
          <Fact label="Its state as of">
            <Time value={root.asOf} absolute />
          </Fact>
        </Facts>
      )}
    </>
  );
};
