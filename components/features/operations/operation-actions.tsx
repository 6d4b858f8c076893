"use client";

import { RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { actText } from "@/components/features/money-flow/act-text";
import { ReceiptRecipient } from "@/components/features/money-flow/receipt-parts";
import { ApproveAction, CancelAction } from "@/components/features/money-flow/approval-dialog";
import { useMoveFlow } from "@/components/features/money-flow/use-move-flow";
import { MoveDialog } from "@/components/features/money-flow/move-dialog";
import { Actor } from "@/components/features/names/names";
import { useApiMutation, useCache, useSentOnce } from "@/components/features/session/use-api";
import { subjectOfQuote } from "@/components/features/swap/quote-subject";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { ErrorState } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import {
  approveOperation,
  cancelOperation,
  listOperations,
  retryOperation,
} from "@/lib/api-client/calls.gen";
import { type Operation, operationQuery } from "./operation";
import { sumByAsset } from "./operation-sums";

export const OperationActions = ({
  operation,
}: {
  readonly operation: Operation;
}): ReactNode => {
  const { may } = operation;
  const params = { id: operation.operationId };
  const cache = useCache();
  const retry = useRetry(operation);
  const approval = useSentOnce(approveOperation);
  const cancellation = useApiMutation(cancelOperation);
  const takeOver = (changed: Operation): void => {
    cache.set(operationQuery(operation.operationId), changed);
    void cache.refresh(listOperations);
  };
  return (
    <>
      {may.approve || may.cancel || may.retry ? (
        <div className="flex flex-wrap gap-2 pt-3">
          <ApproveAction
            mayApprove={may.approve}
            votedId={operation.operationId}
            noun="operation"
            act={actText("Send", sumByAsset(operation.quoted.from))}
            description="The price is checked again; it runs only if the minimum still arrives."
            subject={{ operationId: operation.operationId }}
            money="Nothing was sent."
            approval={approval.mutation}
            onApprove={async (proof) => takeOver(await approval.send({ params, body: proof }))}
            done="Approved. It runs now."
          >
            <WhatWaits operation={operation} />
          </ApproveAction>
          {may.retry ? (
            <Button variant="primary" loading={retry.loading} onClick={() => void retry.ask()}>
              {retry.loading ? null : <RotateCcw aria-hidden />} Retry …
            </Button>
          ) : null}
          {may.cancel ? (
            <CancelAction
              title="Cancel this operation?"
              text="Nothing was sent, and nothing will be. This cannot be undone; you can start a new one."
              action={cancellation}
              money="It continues as before."
              confirmLabel="Cancel the operation"
              cancel={async () => takeOver(await cancellation.mutateAsync({ params }))}
              done="Cancelled. Nothing was sent."
            />
          ) : null}
        </div>
      ) : null}
      {retry.error === null ? null : (
        <div className="pt-3">
          <ErrorState compact error={retry.error} money="The money is where the page says." />
        </div>
      )}
      <MoveDialog flow={retry.flow} onNewQuote={() => void retry.ask()} />
    </>
  );
};

/**
 * Requests a quote for the failed or refunded legs, and starts the flow that approves the quote. A
 * private operation has no quote, so the service creates a new operation instead.
 */
const useRetry = ({ operationId }: Operation) => {
  const cache = useCache();
  const asking = useApiMutation(retryOperation);
  const flow = useMoveFlow({
    onDone: () => void cache.refresh(operationQuery(operationId)),
  });
  const ask = async (): Promise<void> => {
    const answer = await asking.mutateAsync({ params: { id: operationId } }).catch(() => null);
    if (answer === null) return;
    if (answer.kind === "quote") {
      flow.start(subjectOfQuote(answer, "retry"));
      return;
    }
    toast.success(
      answer.subStatus === "awaiting_approval"
        ? "Tried again. The new operation awaits approval."
        : "Tried again.",
    );
    void cache.refresh(operationQuery(operationId), listOperations);
  };
  return { flow, ask, loading: asking.isPending, error: asking.error };
};

const WhatWaits = ({
  operation: { quoted, createdBy },
}: {
  readonly operation: Operation;
}): ReactNode => (
  <Facts className="border-b">
    <Fact label="You send">
      <ul>
        {quoted.from.map((source, index) => (
          <li key={index}>
            <Amount value={source.amount} unit={source.token.symbol} exact /> on{" "}
            <ChainName chainId={source.chainId} />
          </li>
        ))}
      </ul>
    </Fact>
    <Fact label="Minimum received" strong>
      <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} exact />
    </Fact>
    <Fact label="To">
      <ReceiptRecipient address={quoted.to.address} chainId={quoted.to.chainId} />
    </Fact>
    <Fact label="Asked for by">
      <Actor id={createdBy} />
    </Fact>
  </Facts>
);
