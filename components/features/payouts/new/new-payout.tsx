"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { EmailNotice } from "@/components/features/money-flow/email-notice";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { createAccountsPayout, createWalletsPayout } from "@/lib/api-client/calls.gen";
import { FromCard } from "./from-card";
import { ReviewDialog } from "./review-dialog";
import { RowsCard } from "./rows-card";
import { SummaryCard } from "./summary-card";
import { useNewPayout, type Checked, type NewPayout as Form } from "./use-new-payout";

/** Rows in the example call. More rows would slow the page without making the example clearer. */
const SNIPPET_ROWS_MAX = 20;

export const NewPayout = (): ReactNode => {
  const form = useNewPayout();
  const { setupState } = form.target;
  return (
    <>
      <PageHeader
        title="New payout"
        description="Pay up to 10,000 recipients at once, now or on a schedule."
        actions={
          <Link href="/payouts" className={buttonLooks()}>
            All payouts
          </Link>
        }
      />
      {setupState.state === "loading" ? (
        <Card flush>
          <LoadingRows what="wallets and tokens" rows={6} />
        </Card>
      ) : setupState.state === "failed" ? (
        <Card flush>
          <ErrorState error={setupState.error} onRetry={setupState.retry} />
        </Card>
      ) : (
        <Desk form={form} setup={setupState.setup} />
      )}
    </>
  );
};

interface DeskProps {
  readonly form: Form;
  readonly setup: Extract<Form["target"]["setupState"], { state: "ready" }>["setup"];
}

const Desk = ({ form, setup }: DeskProps): ReactNode => {
  const [reviewed, setReviewed] = useState<Checked | null>(null);
  return (
    <div className="flex flex-col gap-4">
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_18rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <EmailNotice />
          <FromCard target={form.target} setup={setup} />
          {form.target.rules === null ? null : <RowsCard form={form} />}
        </div>
        <SummaryCard form={form} onReview={() => void form.check().then(setReviewed)} />
      </div>
      <Snippet form={form} />
      {reviewed === null ? null : <ReviewDialog form={form} checked={reviewed} onClose={() => setReviewed(null)} />}
    </div>
  );
};

/** The same call, with the first rows of the form or an example. */
const Snippet = ({ form: { target, body } }: { readonly form: Form }): ReactNode => {
  const shown = body === null || body.transfers.length === 0 ? null : body;
  if (target.kind === "wallets")
    return (
      <ApiSnippet
        method="POST"
        path={createWalletsPayout.path}
        body={
          shown === null
            ? { chainId: Number(target.chainId), transfers: [{ address: "<address>", amount: "12.5", token: "USDC" }] }
            : { ...shown, transfers: shown.transfers.slice(0, SNIPPET_ROWS_MAX) }
        }
      />
    );
  return (
    <ApiSnippet
      method="POST"
      path={createAccountsPayout.path}
      body={
        shown === null
          ? {
              sourceAccountId: "<account>",
              transfers: [{ recipientAccountId: "<account>", amount: "12.5", currency: "USDC" }],
            }
          : { ...shown, transfers: shown.transfers.slice(0, SNIPPET_ROWS_MAX) }
      }
    />
  );
};
