"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound, RotateCcw } from "lucide-react";
import { useRouter } from "next/navigation";
import { parseAsBoolean, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { DecisionLink } from "@/components/features/inbox/decision-link";
import { useVotesOn } from "@/components/features/inbox/use-decision";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ApprovalDialog } from "@/components/features/money-flow/approval-dialog";
import type { MoneyProof } from "@/components/features/money-flow/types";
import type { Operation } from "@/components/features/operations/types";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import {
  approveOperation,
  cancelOperation,
  getOperation,
  getPrivateBalances,
  getPrivateTransfer,
  listPrivateTransfers,
  retryOperation,
} from "@/lib/api-client/calls.gen";
import { privateTransferRecord } from "@/lib/contracts/privacy-records";
import { KIND_WORDS, pathOfTransfer } from "../kind-words";
import type { PrivateNames } from "../names";
import type { PrivateTransfer } from "../types";
import { TransferFacts } from "./transfer-facts";

interface TransferActionsProps {
  readonly transfer: PrivateTransfer;
  /** Undefined until it is known what may be asked. */
  readonly operation: Operation | undefined;
  readonly names: PrivateNames;
}

/** Takes over the operation, and asks for the private record again. */
const useChanged = (): ((operation: Operation) => void) => {
  const queryClient = useQueryClient();
  return (operation) => {
    const params = { id: operation.operationId };
    queryClient.setQueryData(queryKeyOf(getOperation, { params }), operation);
    for (const contract of [getPrivateTransfer, listPrivateTransfers, getPrivateBalances])
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
  };
};

/** Starts what did not arrive once more, and goes to its page, where a code approves it. */
const useRetry = ({ operationId }: PrivateTransfer) => {
  const router = useRouter();
  const queryClient = useQueryClient();
  const { mutation, send } = useSentOnce(retryOperation);
  const ask = async (): Promise<void> => {
    try {
      // Retries of swaps and transfers answer with a quote.
      const again = privateTransferRecord.parse(await send({ params: { id: operationId } }));
      for (const contract of [getOperation, listPrivateTransfers])
        void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
      router.push(`${pathOfTransfer(again)}?approve=true`);
    } catch (error) {
      toast.error(`This cannot be tried again now. ${describeError(error).message} Nothing more was sent.`);
    }
  };
  return { ask, pending: mutation.isPending };
};

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether the code was accepted is not known. Approving again is safe: the money moves once."
    : "Nothing was sent.";

/** The actions that are possible now: approve, try again, cancel. */
export const TransferActions = ({ transfer, operation, names }: TransferActionsProps): ReactNode => {
  // In the address, so that the form that made it leads straight to the code.
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const [cancelling, setCancelling] = useState(false);
  const changed = useChanged();
  const approval = useSentOnce(approveOperation);
  const params = { id: transfer.operationId };
  const setOpen = (open: boolean): void => void setApproving(open ? true : null, { history: "replace" });
  const approve = async (proof: MoneyProof): Promise<void> => {
    const approved = await approval.send({ params, body: proof });
    setOpen(false);
    changed(approved);
    toast.success("Approved. It runs now.");
  };
  const retry = useRetry(transfer);
  const may = operation?.may;
  const mayApprove = may?.approve === true;
  const votes = useVotesOn(transfer.operationId, mayApprove);
  const word = KIND_WORDS[transfer.kind].toLowerCase();
  return (
    <>
      {may?.cancel === true ? (
        <Button onClick={() => setCancelling(true)}>
          <Ban aria-hidden /> Cancel
        </Button>
      ) : null}
      {votes.decision !== undefined ? (
        <DecisionLink id={votes.decision.id} />
      ) : mayApprove ? (
        <Button variant="primary" onClick={() => setOpen(true)}>
          <KeyRound aria-hidden /> Approve …
        </Button>
      ) : null}
      {may?.retry === true ? (
        <Button variant="primary" loading={retry.pending} onClick={() => void retry.ask()}>
          {retry.pending ? null : <RotateCcw aria-hidden />} Try again
        </Button>
      ) : null}
      <ApprovalDialog
        open={approving && mayApprove && votes.isKnown && votes.decision === undefined}
        onOpenChange={setOpen}
        title={`Approve the ${word}`}
        description="The code is good for exactly this, and for nothing else."
        subject={{ operationId: transfer.operationId }}
        money="Nothing was sent."
        moneyAfter={moneyAfter}
        approval={approval.mutation}
        onApprove={approve}
      >
        <TransferFacts transfer={transfer} names={names} />
      </ApprovalDialog>
      <CancelDialog transfer={transfer} open={cancelling} onOpenChange={setCancelling} onCancelled={changed} />
    </>
  );
};

interface CancelDialogProps {
  readonly transfer: PrivateTransfer;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onCancelled: (operation: Operation) => void;
}

const CancelDialog = ({ transfer, open, onOpenChange, onCancelled }: CancelDialogProps): ReactNode => {
  const cancellation = useApiMutation(cancelOperation);
  const word = KIND_WORDS[transfer.kind].toLowerCase();
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Cancel this ${word}?`}
      description={
        <>
          <p>Nothing was sent, and nothing will be. This cannot be undone; you can start it again.</p>
          {cancellation.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={cancellation.error} money="It continues as before." />
            </div>
          )}
        </>
      }
      confirmLabel={`Cancel the ${word}`}
      cancelLabel="Keep it"
      onConfirm={async () => {
        onCancelled(await cancellation.mutateAsync({ params: { id: transfer.operationId } }));
        toast.success("Cancelled. Nothing was sent.");
      }}
    />
  );
};
