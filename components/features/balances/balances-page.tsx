"use client";

import { CircleCheck, Coins, Download, TriangleAlert } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { FundButtons } from "@/components/features/faucet/fund";
import { isEmpty } from "@/components/features/overview/worth";
import { isZero } from "@/components/features/swap/decimal";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { RateNote } from "@/components/features/reporting/project-reporting";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { HeldWorth, HideAmountsButton } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { RefreshButton } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { EmptyState, QueryPanel, Skeleton } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { getUnifiedBalances } from "@/lib/api-client/calls.gen";
import { pricedTotal } from "./balance-tree";
import { BalancesTable } from "./balances-table";
import { HistoryCard } from "./history-card";
import { type Balances, useBalances } from "./use-balances";

const MONEY = "The balances on the chains are untouched.";

export const BalancesPage = (): ReactNode => {
  const query = useBalances();
  const { error, isFetching, refetch } = query;
  return (
    <>
      <PageHeader
        title="Balances"
        description="The balances of the project's wallets on all chains."
        actions={
          <>
            <HideAmountsButton />
            <Link href="/receive" className={buttonLooks()}>
              <Download aria-hidden /> Receive
            </Link>
            <RefreshButton isFetching={isFetching} onRefresh={() => void refetch()} />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <QueryPanel query={query} what="balances" rows={8} money={MONEY}>
          {(data) => <Loaded balances={data} failed={error !== null} />}
        </QueryPanel>
        <ApiSnippet call={getUnifiedBalances} />
      </div>
    </>
  );
};

const Loaded = ({
  balances,
  failed,
}: {
  readonly balances: Balances;
  readonly failed: boolean;
}): ReactNode => {
  const empty = balances.totals.every(isEmpty);
  return (
    <>
      {failed ? (
        <Alert tone="warning" title="The balances could not be refreshed">
          You see the last known ones. The page tries again automatically. {MONEY}
        </Alert>
      ) : null}
      <StaleAlerts stale={balances.stale} />
      {empty ? (
        <Card flush>
          <NothingYet />
        </Card>
      ) : (
        <>
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
            <CompositionCard balances={balances} />
            <HistoryCard />
          </div>
          <BalancesTable balances={balances} />
        </>
      )}
      <ChainStates balances={balances} />
    </>
  );
};

const NothingYet = (): ReactNode => {
  const { devnet } = usePublicConfig();
  const treasury = useTreasury();
  return (
    <EmptyState
      icon={Coins}
      title="No balances yet"
      action={
        devnet ? (
          <div className="flex flex-wrap justify-center gap-2">
            <FundButtons />
          </div>
        ) : undefined
      }
    >
      Send tokens to the treasury; it has the same address on every chain
      {treasury === undefined ? (
        <>
          . Its address is under{" "}
          <Link href="/wallets" className="link">
            Wallets
          </Link>
          .
        </>
      ) : (
        <>
          :
          <span className="mt-1 block text-fg">
            <Address value={treasury.address} full />
          </span>
        </>
      )}
    </EmptyState>
  );
};

// The chart library is larger than the rest of the page, so it loads after the numbers.
const CompositionChart = dynamic(
  () => import("./charts").then((module) => module.CompositionChart),
  {
    ssr: false,
    loading: () => <Skeleton className="h-44" />,
  },
);

const CompositionCard = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { usd, unpriced } = pricedTotal(balances);
  return (
    <Card title="Composition">
      <p className="text-3xl font-semibold" data-testid="total-usd">
        {usd === null ? "No prices" : <HeldWorth value={usd} />}
      </p>
      <RateNote />
      {unpriced.length === 0 ? null : (
        <p className="text-sm text-fg-2">
          Without {unpriced.join(", ")}: their price is not known.
        </p>
      )}
      {usd === null || isZero(usd) ? null : (
        <div className="pt-3">
          <CompositionChart balances={balances} />
        </div>
      )}
    </Card>
  );
};

type Stale = Balances["stale"][number];

/**
 * Says whether the sums of the page include the last known balances of a chain that does not
 * answer.
 */
const MissingText = ({ chain }: { readonly chain: Stale }): ReactNode =>
  chain.lastSeenAt === null ? (
    "It has not answered yet, so its balances are missing from all sums."
  ) : (
    <>
      What lay there <Time value={chain.lastSeenAt} /> is counted; what came or went since is
      missing.
    </>
  );

const StaleAlerts = ({ stale }: { readonly stale: readonly Stale[] }): ReactNode =>
  stale.map((chain) => (
    <Alert
      key={chain.chainId}
      tone="warning"
      title={
        <>
          <ChainName chainId={chain.chainId} /> is not up to date
        </>
      }
    >
      {chain.reason.replace(/[.!?]?$/, ".")} <MissingText chain={chain} /> The other chains are
      right.
    </Alert>
  ));

interface ChainState {
  readonly chainId: number;
  readonly blockNumber: string | null;
  readonly at: string | null;
  readonly stale: Stale | null;
}

const COLUMNS: readonly Column<ChainState>[] = [
  {
    id: "chain",
    header: "Chain",
    phone: "title",
    cell: (chain) => <ChainName chainId={chain.chainId} />,
  },
  {
    id: "state",
    header: "State",
    cell: ({ stale }) =>
      stale === null ? (
        <Badge tone="success" icon={CircleCheck}>
          Up to date
        </Badge>
      ) : (
        <Badge tone="warning" icon={TriangleAlert} title={stale.reason}>
          {stale.lastSeenAt === null ? "Missing" : "Last known"}
        </Badge>
      ),
  },
  {
    id: "block",
    header: "Block",
    align: "right",
    cell: ({ blockNumber }) =>
      blockNumber === null ? (
        <span className="text-fg-3">none</span>
      ) : (
        <span className="num font-mono text-sm">{blockNumber}</span>
      ),
  },
  {
    id: "at",
    header: "As of",
    align: "right",
    cell: ({ at }) =>
      at === null ? <span className="text-fg-3">not known</span> : <Time value={at} />,
  },
];

const ChainStates = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { chains } = usePublicConfig();
  const rows = chains.map(({ id }): ChainState => {
    const point = balances.asOf.find((one) => one.chainId === id);
    const stale = balances.stale.find((one) => one.chainId === id) ?? null;
    return {
      chainId: id,
      blockNumber: point?.blockNumber ?? null,
      at: point?.at ?? stale?.lastSeenAt ?? null,
      stale,
    };
  });
  return (
    <Card title="Chains, as last read" flush>
      <Table
        caption="Block and time of each chain"
        columns={COLUMNS}
        rows={rows}
        rowKey={(chain) => String(chain.chainId)}
      />
    </Card>
  );
};
