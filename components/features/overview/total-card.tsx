"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { ChainName } from "@/components/ui/chain-name";
import { ErrorState } from "@/components/ui/error-state";
import { HeldUsd, HideAmountsButton } from "@/components/ui/held-amount";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { isZero } from "./sums";
import { useBalances, type Balances } from "./use-balances";

// The chart library is larger than the rest of the page; numbers come first.
const BalanceChart = dynamic(() => import("./balance-chart").then((module) => module.BalanceChart), {
  ssr: false,
  loading: () => <Skeleton className="h-44" />,
});

export const TotalCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useBalances();
  return (
    <Card title="Total" flush actions={<HideAmountsButton size="sm" />}>
      {isPending ? (
        <div role="status" className="flex flex-col gap-4 p-4">
          <span className="sr-only">Loading balances …</span>
          <Skeleton className="h-10 w-48" />
          <Skeleton className="h-44" />
        </div>
      ) : data === undefined ? (
        <ErrorState error={error} money="The balances on the chains are untouched." onRetry={() => void refetch()} />
      ) : (
        <Total balances={data} failed={error !== null} />
      )}
    </Card>
  );
};

const Total = ({ balances, failed }: { readonly balances: Balances; readonly failed: boolean }): ReactNode => (
  <div className="flex flex-col gap-3 p-4">
    <div>
      <Link href="/balances" className="text-3xl font-semibold" aria-label="Total, to the balances by token">
        <HeldUsd value={balances.totalUsd} plain />
      </Link>
      <AsOf balances={balances} />
    </div>
    {failed ? (
      <Alert tone="warning">The newest balances could not be read; these are the last known ones.</Alert>
    ) : null}
    {balances.stale.map((chain) => (
      <Alert key={chain.chainId} tone="warning" title={<ChainName chainId={chain.chainId} />}>
        This chain is not counted at its newest block: {chain.reason}.{" "}
        {chain.lastSeenAt === null ? (
          "It has not answered yet."
        ) : (
          <>
            Last seen <Time value={chain.lastSeenAt} />.
          </>
        )}
      </Alert>
    ))}
    {balances.totalUsd === null || isZero(balances.totalUsd) ? null : <BalanceChart balances={balances} />}
  </div>
);

const AsOf = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const oldest = balances.asOf.map((point) => point.at).sort()[0];
  if (oldest === undefined) return null;
  const blocks = balances.asOf.map((point) => `chain ${String(point.chainId)}: block ${point.blockNumber}`).join(", ");
  return (
    <p className="text-sm text-fg-3" title={blocks}>
      As of <Time value={oldest} />, over {balances.asOf.length} {balances.asOf.length === 1 ? "chain" : "chains"}
    </p>
  );
};
