"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { RawJson } from "@/components/features/operations/raw-json";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Sheet } from "@/components/ui/sheet";
import { LoadingRows } from "@/components/ui/skeleton";
import { getPayout } from "@/lib/contracts/payouts";
import { PayoutHead } from "./payout-head";
import { PayoutItems } from "./payout-items";
import { usePayout } from "./use-payouts";

const MONEY = "The payout goes on without this page.";

export const PayoutPage = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const query = usePayout(payoutId);
  const payout = query.data;
  return (
    <>
      <PageHeader
        title={payout?.reference ?? "Payout"}
        description={<PublicId value={payoutId} full />}
        actions={
          <Link href="/payouts" className={buttonLooks()}>
            All payouts
          </Link>
        }
      />
      {query.isPending ? (
        <Sheet flush>
          <LoadingRows what="the payout" rows={6} />
        </Sheet>
      ) : payout === undefined ? (
        <Sheet flush>
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        </Sheet>
      ) : (
        <div className="flex flex-col gap-4">
          {query.isError ? (
            <Alert tone="warning" title="The state could not be refreshed">
              It shows what was known before, and is tried again by itself. {MONEY}
            </Alert>
          ) : null}
          <PayoutHead payout={payout} />
          <PayoutItems payout={payout} />
          <RawJson value={payout} />
          <ApiSnippet method={getPayout.method} path={`/payouts/${payoutId}`} />
        </div>
      )}
    </>
  );
};
