"use client";

import { Coins, Download } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { FundButtons } from "@/components/features/faucet/fund-buttons";
import { isEmpty } from "@/components/features/overview/sums";
import { useBalances, type Balances } from "@/components/features/overview/use-balances";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { HideAmountsButton } from "@/components/ui/held-amount";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { RefreshButton } from "@/components/ui/refresh-button";
import { LoadingRows } from "@/components/ui/skeleton";
import { BalancesTable } from "./balances-table";
import { ChainStates, StaleAlerts } from "./chain-states";
import { CompositionCard } from "./composition-card";
import { HistoryCard } from "./history-card";

const MONEY = "The balances on the chains are untouched.";

export const BalancesPage = (): ReactNode => {
  const { data, error, isPending, isFetching, refetch } = useBalances();
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
        {isPending ? (
          <Card flush>
            <LoadingRows what="balances" rows={8} />
          </Card>
        ) : data === undefined ? (
          <Card flush>
            <ErrorState error={error} money={MONEY} onRetry={() => void refetch()} />
          </Card>
        ) : (
          <Loaded balances={data} failed={error !== null} />
        )}
        <ApiSnippet method="GET" path="/balances/unified" />
      </div>
    </>
  );
};

const Loaded = ({ balances, failed }: { readonly balances: Balances; readonly failed: boolean }): ReactNode => {
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
          <div className="grid grid-cols-1 items-stretch gap-4 lg:grid-cols-2">
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

/** Leads to money: the address that takes it, and on local chains the faucet. */
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
