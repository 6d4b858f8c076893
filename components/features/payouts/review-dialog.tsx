"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { accountName, type Account } from "@/components/features/global-accounts/account";
import { queryKeyOf } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts } from "@/components/ui/sheet";
import { createAccountsPayout, listPayouts } from "@/lib/contracts/payouts";
import { formatAmount } from "@/lib/core/money";
import { pathOfPayout } from "./payout";
import { RecipientList } from "./recipient-list";
import type { PayoutBody } from "./row-model";

interface ReviewDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly source: Account;
  readonly body: PayoutBody;
  readonly totalBase: bigint;
}

/** The receipt of what the service has just found right. Creating it moves nothing yet: a code has to approve it. */
export const ReviewDialog = ({ open, onOpenChange, source, body, totalBase }: ReviewDialogProps): ReactNode => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const { mutation, send } = useSentOnce(createAccountsPayout);
  const recipients = new Set(body.transfers.map((row) => row.recipientAccountId)).size;
  const create = async (): Promise<void> => {
    const payout = await send({ body }).catch(() => null);
    if (payout?.payoutId == null) return;
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayouts) });
    router.push(pathOfPayout({ ...payout, payoutId: payout.payoutId }));
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Review the payout"
      description="Every row was checked. Nothing is paid before you approve it with a one-time code."
      size="lg"
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Back</Button>
          <Button variant="primary" loading={mutation.isPending} onClick={() => void create()}>
            Create payout
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <Facts>
          <Fact label="From">
            {accountName(source)}
            <br />
            <code className="font-mono text-sm break-all text-fg-2">{source.id}</code>
          </Fact>
          <Fact label="To">
            {recipients === 1 ? "1 account" : `${recipients.toLocaleString("en")} accounts`} in{" "}
            {body.transfers.length === 1 ? "1 row" : `${body.transfers.length.toLocaleString("en")} rows`}
          </Fact>
          <Fact label="You pay" strong>
            <Amount value={formatAmount(totalBase, source.decimals)} unit={source.currency} />
          </Fact>
          <Fact label="Fees">none</Fact>
          <Fact label="If a row cannot be paid">
            {body.mode === "independent" ? "the others are paid" : "none is paid"}
          </Fact>
          {body.reference === undefined ? null : <Fact label="Reference">{body.reference}</Fact>}
        </Facts>
        <RecipientList rows={body.transfers} currency={source.currency} />
        {mutation.isError ? <ErrorState compact error={mutation.error} money="Nothing was paid." /> : null}
      </div>
    </Dialog>
  );
};
