"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AnnotationCard } from "@/components/features/annotations/annotation-card";
import { RawJson } from "@/components/features/operations/raw-json";
import { EvaluationCard } from "@/components/features/policies/evaluation-card";
import { useChain } from "@/components/providers/public-config";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { getPayout } from "@/lib/api-client/calls.gen";
import { awaitsApproval, countsOf, isInDoubt, titleOf, type Payout } from "./payout";
import { DoubtCard } from "./doubt-card";
import { PayoutActions } from "./payout-actions";
import { PayoutPicture } from "./payout-picture";
import { PayoutStatus } from "./payout-status";
import { RowsTable } from "./rows-table";
import { TotalCard } from "./total-card";
import { usePayout } from "./use-payouts";
import { usePayoutRows } from "./use-payout-rows";

/** As many as fit into the list, which scrolls. */
const LOADING_ROWS_MAX = 15;

const MONEY = "The payout continues without this page.";

export const PayoutPage = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const query = usePayout(payoutId);
  const payout = query.data;
  if (payout !== undefined) return <LoadedPayout payout={payout} stale={query.isError} />;
  return (
    <>
      <PageHeader title="Payout" description={<PublicId value={payoutId} full />} actions={<AllPayouts />} />
      <Card flush>
        {query.isPending ? (
          <LoadingRows what="the payout" rows={6} />
        ) : (
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        )}
      </Card>
    </>
  );
};

const AllPayouts = (): ReactNode => (
  <Link href="/payouts" className={buttonLooks()}>
    All payouts
  </Link>
);

const LoadedPayout = ({ payout, stale }: { readonly payout: Payout; readonly stale: boolean }): ReactNode => {
  const query = usePayoutRows(payout);
  const rows = query.data?.rows;
  const [chosen, setChosen] = useState<number | null>(null);
  return (
    <>
      <Head payout={payout} />
      <div className="flex flex-col gap-4">
        {stale ? (
          <Alert tone="warning" title="The state could not be refreshed">
            You see the last known one. The page tries again automatically. {MONEY}
          </Alert>
        ) : null}
        <NextStep payout={payout} />
        <DoubtCard payout={payout} />
        <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_19rem]">
          <div className="flex min-w-0 flex-col gap-4">
            <PayoutPicture payout={payout} rows={rows} onChoose={setChosen} />
            {rows !== undefined ? (
              <RowsTable payout={payout} rows={rows} chosen={chosen} onChosen={setChosen} />
            ) : query.isError ? (
              <Card flush id="rows" title="Rows">
                <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
              </Card>
            ) : (
              <Card flush id="rows" title="Rows">
                <div className="max-h-[min(32rem,70dvh)] overflow-hidden">
                  <LoadingRows what="the rows" rows={Math.min(countsOf(payout).total, LOADING_ROWS_MAX)} />
                </div>
              </Card>
            )}
            <AnnotationCard subjectId={payout.payoutId} isListed={false} />
          </div>
          <TotalCard payout={payout} />
        </div>
        <EvaluationCard evaluationId={payout.evaluationId} />
        <RawJson value={payout} />
        <ApiSnippet method={getPayout.method} path={`/payouts/${payout.payoutId}`} />
      </div>
    </>
  );
};

const Head = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const options = useTitleOptions();
  const chain = useChain(payout.kind === "wallets" ? payout.chainId : 0);
  const where =
    payout.kind === "global_accounts"
      ? "Payout between accounts"
      : `${payout.account === null ? "Payout to wallets" : "Withdrawal"} on ${chain?.name ?? "a chain"}`;
  return (
    <PageHeader
      title={titleOf(payout, options)}
      description={
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {where} <PublicId value={payout.payoutId} /> <PayoutStatus payout={payout} />
        </span>
      }
      actions={<PayoutActions payout={payout} />}
    />
  );
};

/** The next action, and the reason of a failure. */
const NextStep = ({ payout }: { readonly payout: Payout }): ReactNode =>
  payout.failure !== null ? (
    <Alert
      tone={isInDoubt(payout) ? "warning" : "danger"}
      title={isInDoubt(payout) ? "This payout is in doubt and needs a decision" : "Why it failed"}
    >
      {payout.failure.message} <code className="font-mono text-sm text-fg-2">{payout.failure.code}</code>
      <p className="wrap-anywhere">{payout.nextAction}</p>
    </Alert>
  ) : awaitsApproval(payout) ? (
    <Alert tone="warning" title="This payout waits for approval">
      Approve it with a one-time code, or cancel it. Nothing was paid.
    </Alert>
  ) : (
    <p className="wrap-anywhere text-fg-2">{payout.nextAction}</p>
  );
