"use client";

import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { cancelPayout } from "@/lib/api-client/calls.gen";
import type { Payout } from "./payout";

interface CancelPayoutDialogProps {
  readonly payout: Payout;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCancelled: (payout: Payout) => void;
}

const WORDS = {
  whole: {
    title: "Cancel this payout?",
    text: "Nothing was paid, and nothing will be. This cannot be undone; you can create a new one.",
    confirm: "Cancel the payout",
    done: "Cancelled. Nothing was paid.",
  },
  rest: {
    title: "Stop the rows that were not sent?",
    text: "Rows that were sent already are paid. The others stay unpaid, and their money stays in the treasury. This cannot be undone.",
    confirm: "Stop unsent rows",
    done: "Rows that were not sent are stopped.",
  },
} as const;

/** Before anything was sent the whole payout is cancelled, later the rest of it. */
export const CancelPayoutDialog = (props: CancelPayoutDialogProps): ReactNode => {
  const { payout, open, onOpenChange, onCancelled } = props;
  const { mutation, send } = useSentOnce(cancelPayout);
  const words = payout.status === "pending" ? WORDS.whole : WORDS.rest;
  const cancel = async (): Promise<void> => {
    onCancelled(await send({ params: { id: payout.payoutId } }));
    toast.success(words.done);
  };
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={words.title}
      description={
        <>
          <p>{words.text}</p>
          {mutation.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={mutation.error} money="The payout continues as before." />
            </div>
          )}
        </>
      }
      confirmLabel={words.confirm}
      cancelLabel="Keep it"
      onConfirm={cancel}
    />
  );
};
