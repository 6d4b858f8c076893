"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { HeldAmount } from "@/components/ui/held-amount";
import { PageHeader } from "@/components/ui/page-header";
import { Sheet } from "@/components/ui/sheet";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { ReviewDialog } from "./review-dialog";
import type { PayoutBody } from "./row-model";
import { RowsSheet } from "./rows-sheet";
import { SummarySheet } from "./summary-sheet";
import { usePayoutForm, type PayoutForm } from "./use-payout-form";

/** More would make the page slow, and the call no clearer. */
const SNIPPET_ROWS_MAX = 20;

const EXAMPLE: PayoutBody = {
  sourceAccountId: "<account>",
  transfers: [{ recipientAccountId: "<account>", amount: "12.5", currency: "USDC" }],
};

export const NewPayout = (): ReactNode => {
  const form = usePayoutForm();
  const [reviewing, setReviewing] = useState(false);
  const body = form.body === null || form.body.transfers.length === 0 ? EXAMPLE : form.body;
  return (
    <>
      <PageHeader
        title="Pay accounts"
        description="Moves money from one global account to others at once, without network fees."
        actions={
          <Link href="/payouts" className={buttonLooks()}>
            All payouts
          </Link>
        }
      />
      <div className="flex flex-col gap-4">
        <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <div className="flex min-w-0 flex-col gap-4">
            <SourceSheet form={form} />
            <RowsSheet form={form} />
          </div>
          <SummarySheet form={form} onReview={() => void form.check().then(setReviewing)} />
        </div>
        <ApiSnippet
          method="POST"
          path={createAccountsPayout.path}
          body={{ ...body, transfers: body.transfers.slice(0, SNIPPET_ROWS_MAX) }}
        />
      </div>
      {form.source === undefined || form.body === null ? null : (
        <ReviewDialog
          open={reviewing}
          onOpenChange={setReviewing}
          source={form.source}
          body={form.body}
          totalBase={form.totalBase}
        />
      )}
    </>
  );
};

const SourceSheet = ({
  form: { source, sourceId, sourceError, setSource },
}: {
  readonly form: PayoutForm;
}): ReactNode => (
  <Sheet title="From">
    <div className="flex flex-col gap-3">
      <Field
        label="Source account"
        hint={
          source === undefined ? (
            "The account that pays; its currency is that of the payout."
          ) : (
            <>
              <HeldAmount value={source.balance.available} unit={source.currency} /> available
            </>
          )
        }
        error={source?.status === "frozen" ? "This account is frozen; it cannot pay." : null}
      >
        <AccountPicker value={sourceId} onChange={setSource} />
      </Field>
      {sourceError === null || source !== undefined ? null : (
        <ErrorState compact error={sourceError} money="Nothing was paid." />
      )}
    </div>
  </Sheet>
);
