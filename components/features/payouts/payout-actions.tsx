"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound, RotateCcw } from "lucide-react";
import { useRouter } from "next/navigation";
import { parseAsBoolean, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { DecisionLink } from "@/components/features/inbox/decision-link";
import { useOpenDecision } from "@/components/features/inbox/use-decision";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { getPayout, listPayoutItems, listPayouts, retryPayout } from "@/lib/api-client/calls.gen";
import { ApprovePayoutDialog } from "./approve-payout-dialog";
import { CancelPayoutDialog } from "./cancel-payout-dialog";
import { CopyPayoutButton } from "./copy-payout-button";
import { ExportMenu } from "./export-menu";
import { pathOfPayout, type Payout } from "./payout";

/** Takes over a fresh record, and asks for its rows again. */
const useTakeOver = (): ((payout: Payout) => void) => {
  const queryClient = useQueryClient();
  return (payout) => {
    queryClient.setQueryData(queryKeyOf(getPayout, { params: { id: payout.payoutId } }), payout);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayouts) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayoutItems) });
  };
};

/** The actions that are possible now: approve, retry, cancel, export, use again. */
export const PayoutActions = ({ payout }: { readonly payout: Payout }): ReactNode => {
  // In the address, so that the form that made the payout leads straight to it.
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const [cancelling, setCancelling] = useState(false);
  const router = useRouter();
  const takeOver = useTakeOver();
  const retry = useSentOnce(retryPayout);
  const { may } = payout;
  const decision = useOpenDecision(payout.payoutId, may.approve);
  const setOpen = (open: boolean): void => void setApproving(open ? true : null, { history: "replace" });
  const ask = async (): Promise<void> => {
    try {
      const again = await retry.send({ params: { id: payout.payoutId } });
      takeOver(again);
      router.push(pathOfPayout(again));
    } catch (error) {
      toast.error(`The failed rows cannot be retried. ${describeError(error).message} Nothing more was paid.`);
    }
  };
  return (
    <>
      <CopyPayoutButton payout={payout} />
      <ExportMenu payoutId={payout.payoutId} />
      {may.cancel ? (
        <Button onClick={() => setCancelling(true)}>
          <Ban aria-hidden /> {payout.status === "pending" ? "Cancel the payout" : "Stop unsent rows"}
        </Button>
      ) : null}
      {decision !== undefined ? (
        <DecisionLink id={decision.id} />
      ) : may.approve ? (
        <Button variant="primary" onClick={() => setOpen(true)}>
          <KeyRound aria-hidden /> Approve …
        </Button>
      ) : null}
      {may.retry ? (
        <Button variant="primary" loading={retry.mutation.isPending} onClick={() => void ask()}>
          {retry.mutation.isPending ? null : <RotateCcw aria-hidden />} Retry failed rows
        </Button>
      ) : null}
      <ApprovePayoutDialog
        payout={payout}
        open={approving && may.approve && decision === undefined}
        onOpenChange={setOpen}
        onApproved={takeOver}
      />
      <CancelPayoutDialog payout={payout} open={cancelling} onOpenChange={setCancelling} onCancelled={takeOver} />
    </>
  );
};
