"use client";

import {
  Check,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CloudOff,
  Fuel,
  ShieldCheck,
} from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { NamedAddress } from "@/components/features/names/names";
import { isZero } from "@/components/features/swap/decimal";
import { Alert } from "@/components/ui/alert";
import { Amount, columnTail, type ColumnTail } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { CopyButton, RefreshButton } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { CodeBlock } from "@/components/ui/code-block";
import { ChainName, TokenMark } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState, QueryPanel } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { useLocale } from "@/components/ui/use-locale";
import { getReserves } from "@/lib/api-client/calls.gen";
import { formatAmount } from "@/lib/core/money";
import { coverageTenths, coverageText } from "./coverage";
import { HashValue } from "./hash-value";
import { ReserveStatement } from "./reserve-statement";
import { type Reserve, useReserves } from "./use-reserves";

const MONEY = "The money on the chains and in the accounts is untouched.";

/**
 * Sorts the currencies in which accounts hold money before the currencies that only the treasury
 * has.
 */
const owedFirst = (reserves: readonly Reserve[]): readonly Reserve[] =>
  [...reserves].sort(
    (a, b) => Number(coverageTenths(a) === null) - Number(coverageTenths(b) === null),
  );

export const Reserves = (): ReactNode => {
  const query = useReserves();
  const { data, error, isPending, isFetching, refetch } = query;
  return (
    <>
      <PageHeader
        title="Reserves"
        description={
          <>
            Accounts' money, compared with the treasury's balances on chain.
            {/* Takes up a line before the time is known, so that the layout does not shift. */}
            <span className="block min-h-5">
              {data === undefined ? null : (
                <>
                  As of <Time value={data.asOf} />.
                </>
              )}
            </span>
          </>
        }
        actions={<RefreshButton isFetching={isFetching} onRefresh={() => void refetch()} />}
      />
      <div className="flex flex-col gap-4">
        <QueryPanel query={query} what="reserves" rows={8} money={MONEY}>
          {(data) => (
            <>
              {error === null ? null : (
                <Alert tone="warning" title="The reserves could not be refreshed">
                  You see the last known ones. The page tries again automatically. {MONEY}
                </Alert>
              )}
              {data.data.length === 0 ? (
                <Card flush>
                  <NothingYet />
                </Card>
              ) : (
                owedFirst(data.data).map((reserve) => (
                  <ReserveCard key={reserve.assetId} reserve={reserve} />
                ))
              )}
            </>
          )}
        </QueryPanel>
        {/* Hidden while loading, because the height of the cards above is unknown then. */}
        {isPending ? null : (
          <>
            <HowToCheck />
            <ApiSnippet call={getReserves} />
          </>
        )}
      </div>
    </>
  );
};

const NothingYet = (): ReactNode => (
  <EmptyState icon={ShieldCheck} title="Nothing to cover yet">
    Reserves are listed for each currency that an{" "}
    <Link href="/accounts" className="link">
      account
    </Link>{" "}
    or the treasury holds.
  </EmptyState>
);

const HowToCheck = (): ReactNode => (
  <Card title="How to check this">
    <ol className="flex max-w-prose list-decimal flex-col gap-2 pl-5 text-fg-2">
      <li>
        <strong className="font-medium text-fg">Held on chain.</strong> Ask any node for the
        balance of the wallet at the block that is named; it needs no trust in this service.
      </li>
      <li>
        <strong className="font-medium text-fg">Owed to accounts.</strong> The accounts are
        leaves of a Merkle tree in which each node has the sum of the nodes below it. The owner
        of an account gets its proof from the page of the account, and checks that it leads to
        this root and this sum:
      </li>
    </ol>
    <CodeBlock
      label="check command"
      code="npm run reserves:verify -- proof.json"
      wrap
      className="my-3"
    />
    <p className="max-w-prose text-fg-2">
      Covered means that the first is at least the second, less what operations under way still
      take out. A root that leaves an account out, or counts a debt against others, does not fit
      the proofs that people hold.
    </p>
  </Card>
);

type ChainPart = Reserve["chains"][number];

const Unknown = (): ReactNode => <span className="text-fg-3">not known</span>;

const columnsOf = (currency: string, tail: ColumnTail): readonly Column<ChainPart>[] => [
  {
    id: "chain",
    header: "Chain",
    phone: "title",
    cell: (part) => <ChainName chainId={part.chainId} />,
  },
  {
    id: "wallet",
    header: "Wallet",
    bare: true,
    grow: true,
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
          <CopyButton className="-mr-1.25" value={part.blockNumber} label="Copy block number" />
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
    cell: (part) => {
      if (part.stale)
        return (
          <Badge
            tone="warning"
            icon={CloudOff}
            title="The chain does not answer; nothing of it is counted."
          >
            Not counted
          </Badge>
        );
      if (part.backs)
        return (
          <Badge tone="success" icon={Check}>
            Counted
          </Badge>
        );
      return (
        <Badge
          icon={Fuel}
          title="The treasury pays its network fees on this chain with it, so it backs no account."
        >
          Kept for fees
        </Badge>
      );
    },
  },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    phone: "aside",
    cell: (part) => (
      <Amount
        value={part.amount}
        unit={currency}
        column={tail}
        className={part.stale || !part.backs ? "text-fg-3" : "font-medium"}
      />
    ),
  },
];

const amountIn =
  (currency: string) =>
  (value: string): ReactNode => <Amount value={value} unit={currency} />;

const Coverage = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
  const locale = useLocale();
  const tenths = coverageTenths(reserve);
  const amount = amountIn(reserve.currency);
  if (tenths === null)
    return (
      <p className="flex flex-wrap justify-between gap-x-8 px-4 py-2.5 text-fg-2">
        <span>The accounts hold nothing.</span>
        <span>Available {amount(reserve.available)}</span>
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
        {isZero(reserve.inTransit) ? null : (
          <Side label="Withdrawals in transit">{amount(reserve.inTransit)}</Side>
        )}
        <Side label="Total, on chain">{amount(reserve.onChain)}</Side>
        <Side label="Available">{amount(reserve.available)}</Side>
      </dl>
    </div>
  );
};

const Side = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode => (
  <div className="flex justify-between gap-4 sm:block">
    <dt className="text-sm text-fg-2">{label}</dt>
    <dd className="font-medium">{children}</dd>
  </div>
);

const ReserveCard = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
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
        <Link
          href={`/accounts?currency=${encodeURIComponent(currency)}`}
          className="link text-sm"
        >
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
      <ReserveStatement reserve={reserve} />
    </Card>
  );
};

const Details = ({
  reserve: { currency, chains, root, committed, decimals },
}: {
  readonly reserve: Reserve;
}): ReactNode => {
  const amount = amountIn(currency);
  const tail = columnTail(chains.map((part) => ({ value: part.amount, symbol: currency })));
  return (
    <>
      <Facts className="border-t px-4">
        <Fact label="Number of accounts">{root?.accounts ?? 0}</Fact>
        <Fact label="Reserved">{amount(committed)}</Fact>
      </Facts>
      <div className="border-t">
        <Table
          caption={`${currency} on chain`}
          columns={columnsOf(currency, tail)}
          rows={chains}
          rowKey={(part) => String(part.chainId)}
        />
      </div>
      {root === null ? null : (
        <Facts className="border-t px-4">
          <Fact label="Root hash of the accounts">
            <HashValue value={root.hash} />
          </Fact>
          <Fact label="Sum under the root">
            {amount(formatAmount(BigInt(root.sumBase), decimals))}
          </Fact>
          <Fact label="Its state as of">
            <Time value={root.asOf} absolute />
          </Fact>
        </Facts>
      )}
    </>
  );
};

const CoveredBadge = ({ covered }: { readonly covered: boolean }): ReactNode =>
  covered ? (
    <Badge tone="success" icon={CircleCheck}>
      Covered
    </Badge>
  ) : (
    <Badge tone="danger" icon={CircleAlert}>
      Not covered
    </Badge>
  );
