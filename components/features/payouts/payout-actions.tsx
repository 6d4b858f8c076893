"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound, RotateCcw } from "lucide-react";
import { useRouter } from "next/navigation";
import { parseAsBoolean, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { queryKeyOf } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { cancelPayout, getPayout, listPayoutItems, listPayouts, retryPayout } from "@/lib/contracts/payouts";
import { ApprovePayoutDialog } from "./approve-payout-dialog";
import { awaitsApproval, mayCancel, mayRetry, pathOfPayout, type Payout } from "./payout";

/** Takes over a fresh record, and asks for its rows again. */
const useTakeOver = (): ((payout: Payout) => void) => {
  const queryClient = useQueryClient();
  return (payout) => {
    queryClient.setQueryData(queryKeyOf(getPayout, { params: { id: payout.payoutId } }), payout);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayouts) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listPayoutItems) });
  };
};

/** What can be asked of the payout now: approve, cancel, retry. Nothing where nothing can be asked. */
export const PayoutActions = ({ payout }: { readonly payout: Payout }): ReactNode => {
  // In the address, so that the form that made the payout leads straight to it.
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const [cancelling, setCancelling] = useState(false);
  const router = useRouter();
  const takeOver = useTakeOver();
  const retry = useSentOnce(retryPayout);
  const waits = awaitsApproval(payout);
  const setOpen = (open: boolean): void => void setApproving(open ? true : null, { history: "replace" });
  const ask = async (): Promise<void> => {
    const again = await retry.send({ params: { id: payout.payoutId } }).catch(() => null);
    if (again === null) return;
    takeOver(again);
    router.push(pathOfPayout(again));
  };
  return (
    <>
      {waits || mayCancel(payout) || mayRetry(payout) ? (
        <div className="flex flex-wrap gap-2 pt-3">
          {waits ? (
            <Button variant="primary" onClick={() => setOpen(true)}>
              <KeyRound aria-hidden /> Approve …
            </Button>
          ) : null}
          {mayRetry(payout) ? (
            <Button variant="primary" loading={retry.mutation.isPending} onClick={() => void ask()}>
              {retry.mutation.isPending ? null : <RotateCcw aria-hidden />} Retry failed rows
            </Button>
          ) : null}
          {mayCancel(payout) ? (
            <Button onClick={() => setCancelling(true)}>
              <Ban aria-hidden /> Cancel the payout
            </Button>
          ) : null}
        </div>
      ) : null}
      {retry.mutation.error === null ? null : (
        <div className="pt-3">
          <ErrorState compact error={retry.mutation.error} money="Nothing more was paid." />
        </div>
      )}
      <ApprovePayoutDialog payout={payout} open={approving && waits} onOpenChange={setOpen} onApproved={takeOver} />
      <CancelDialog payout={payout} open={cancelling} onOpenChange={setCancelling} onCancelled={takeOver} />
    </>
  );
};

interface CancelDialogProps {
  readonly payout: Payout;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCancelled: (payout: Payout) => void;
}

const CancelDialog = ({ payout, open, onOpenChange, onCancelled }: CancelDialogProps): ReactNode => {
  const { mutation, send } = useSentOnce(cancelPayout);
  const cancel = async (): Promise<void> => {
    onCancelled(await send({ params: { id: payout.payoutId } }));
    toast.success("Cancelled. Nothing was paid.");
  };
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Cancel this payout?"
      description={
        <>
          <p>Nothing was paid, and nothing will be. This cannot be undone; it can be made anew.</p>
          {mutation.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={mutation.error} money="The payout goes on as before." />
            </div>
          )}
        </>
      }
      confirmLabel="Cancel the payout"
      cancelLabel="Keep it"
      onConfirm={cancel}
    />
  );
};
