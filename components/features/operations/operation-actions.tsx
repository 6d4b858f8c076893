"use client";

import { useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound, RotateCcw } from "lucide-react";
import { parseAsBoolean, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { DecisionLink } from "@/components/features/inbox/decision-link";
import { useOpenDecision } from "@/components/features/inbox/use-decision";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { subjectOfQuote } from "@/components/features/swap/quote-subject";
import { Button } from "@/components/ui/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { cancelOperation, getOperation, listOperations, retryOperation } from "@/lib/api-client/calls.gen";
import { ApproveDialog } from "./approve-dialog";
import type { Operation } from "./types";

/** The actions that are possible now: approve, cancel, retry. Renders nothing when no action is possible. */
export const OperationActions = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const { may } = operation;
  // In the address, so that a reload in the middle of an approval leads back to it.
  const [approving, setApproving] = useQueryState("approve", parseAsBoolean.withDefault(false));
  const [cancelling, setCancelling] = useState(false);
  const retry = useRetry(operation);
  const decision = useOpenDecision(operation.operationId, may.approve);
  const setOpen = (open: boolean): void => void setApproving(open ? true : null, { history: "replace" });
  return (
    <>
      {may.approve || may.cancel || may.retry ? (
        <div className="flex flex-wrap gap-2 pt-3">
          {decision !== undefined ? (
            <DecisionLink id={decision.id} />
          ) : may.approve ? (
            <Button variant="primary" onClick={() => setOpen(true)}>
              <KeyRound aria-hidden /> Approve …
            </Button>
          ) : null}
          {may.retry ? (
            <Button variant="primary" loading={retry.loading} onClick={() => void retry.ask()}>
              {retry.loading ? null : <RotateCcw aria-hidden />} Retry …
            </Button>
          ) : null}
          {may.cancel ? (
            <Button onClick={() => setCancelling(true)}>
              <Ban aria-hidden /> Cancel the operation
            </Button>
          ) : null}
        </div>
      ) : null}
      {retry.error === null ? null : (
        <div className="pt-3">
          <ErrorState compact error={retry.error} money="The money is where the page says." />
        </div>
      )}
      <ApproveDialog
        operation={operation}
        open={approving && may.approve && decision === undefined}
        onOpenChange={setOpen}
      />
      <CancelDialog operation={operation} open={cancelling} onOpenChange={setCancelling} />
      <MoveDialog flow={retry.flow} onNewQuote={() => void retry.ask()} />
    </>
  );
};

/** A fresh quote for the legs that failed or came back, taken through the usual way. A private operation is tried again by a new one. */
const useRetry = ({ operationId }: Operation) => {
  const queryClient = useQueryClient();
  const asking = useApiMutation(retryOperation);
  const flow = useMoveFlow({
    onDone: () =>
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(getOperation, { params: { id: operationId } }) }),
  });
  const ask = async (): Promise<void> => {
    const answer = await asking.mutateAsync({ params: { id: operationId } }).catch(() => null);
    if (answer === null) return;
    if ("quoteId" in answer) {
      flow.start(subjectOfQuote(answer, "retry"));
      return;
    }
    toast.success(
      answer.subStatus === "awaiting_approval" ? "Tried again. The new operation awaits approval." : "Tried again.",
    );
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getOperation, { params: { id: operationId } }) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
  };
  return { flow, ask, loading: asking.isPending, error: asking.error };
};

interface CancelDialogProps {
  readonly operation: Operation;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

const CancelDialog = ({ operation, open, onOpenChange }: CancelDialogProps): ReactNode => {
  const queryClient = useQueryClient();
  const cancellation = useApiMutation(cancelOperation);
  const cancel = async (): Promise<void> => {
    const params = { id: operation.operationId };
    const cancelled = await cancellation.mutateAsync({ params });
    queryClient.setQueryData(queryKeyOf(getOperation, { params }), cancelled);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
    toast.success("Cancelled. Nothing was sent.");
  };
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Cancel this operation?"
      description={
        <>
          <p>Nothing was sent, and nothing will be. This cannot be undone; you can start a new one.</p>
          {cancellation.error === null ? null : (
            <div className="pt-2">
              <ErrorState compact error={cancellation.error} money="It continues as before." />
            </div>
          )}
        </>
      }
      confirmLabel="Cancel the operation"
      cancelLabel="Keep it"
      onConfirm={cancel}
    />
  );
};
