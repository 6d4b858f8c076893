"use client";

import { ShieldCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Alert } from "@/components/ui/alert";
import { CodeBlock } from "@/components/ui/code-block";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { RefreshButton } from "@/components/ui/refresh-button";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { getReserves } from "@/lib/api-client/calls.gen";
import { ReserveCard } from "./reserve-card";
import { coverageTenths } from "./coverage";
import { useReserves, type Reserve } from "./use-reserves";

const MONEY = "The money on the chains and in the accounts is untouched.";

/** Currencies in which accounts hold money stand before those that only the treasury has. */
const owedFirst = (reserves: readonly Reserve[]): readonly Reserve[] =>
  [...reserves].sort((a, b) => Number(coverageTenths(a) === null) - Number(coverageTenths(b) === null));

export const Reserves = (): ReactNode => {
  const { data, error, isPending, isFetching, refetch } = useReserves();
  return (
    <>
      <PageHeader
        title="Reserves"
        description={
          <>
            Accounts' money, compared with the treasury's balances on chain.
            {/* A line of its own, also before the time is known: nothing below moves when it comes or becomes shorter. */}
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
        {isPending ? (
          <Card flush>
            <LoadingRows what="reserves" rows={8} />
          </Card>
        ) : data === undefined ? (
          <Card flush>
            <ErrorState error={error} money={MONEY} onRetry={() => void refetch()} />
          </Card>
        ) : (
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
              owedFirst(data.data).map((reserve) => <ReserveCard key={reserve.assetId} reserve={reserve} />)
            )}
          </>
        )}
        {/* Below cards of which neither number nor height is known before. */}
        {isPending ? null : (
          <>
            <HowToCheck />
            <ApiSnippet method="GET" path={getReserves.path} />
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
        <strong className="font-medium text-fg">Held on chain.</strong> Ask any node for the balance of the wallet at
        the block that is named; it needs no trust in this service.
      </li>
      <li>
        <strong className="font-medium text-fg">Owed to accounts.</strong> The accounts are leaves of a Merkle tree in
        which each node has the sum of the nodes below it. The owner of an account gets its proof from the page of the
        account, and checks that it leads to this root and this sum:
      </li>
    </ol>
    <CodeBlock label="check command" code="npm run reserves:verify -- proof.json" wrap className="my-3" />
    <p className="max-w-prose text-fg-2">
      Covered means that the first is at least the second, less what operations under way still take out. A root that
      leaves an account out, or counts a debt against others, does not fit the proofs that people hold.
    </p>
  </Card>
);
