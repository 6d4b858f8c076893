"use client";

import { RotateCcw } from "lucide-react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { actText } from "@/components/features/money-flow/act-text";
import { codeOf } from "@/components/features/money-flow/api-error";
import { ApproveAction, CancelAction } from "@/components/features/money-flow/approval-dialog";
import { Actor } from "@/components/features/names/names";
import { type Operation, operationQuery } from "@/components/features/operations/operation";
import { useApiMutation, useSentOnce, useCache } from "@/components/features/session/use-api";
import { AddressGroups } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { describeError } from "@/components/ui/describe-error";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
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
import { type PrivateTransfer, TokenAmountText } from "../parts";
import { type PrivateNames } from "../names";
import { KIND_WORDS, pathOfTransfer } from "../use-private";

interface TransferActionsProps {
  readonly transfer: PrivateTransfer;
  /** Undefined while the operation is loading. No action is offered then. */
  readonly operation: Operation | undefined;
  readonly names: PrivateNames;
}

/** Stores the operation's new state in the cache, and reads the private records again. */
const useChanged = (): ((operation: Operation) => void) => {
  const cache = useCache();
  return (operation) => {
    cache.set(operationQuery(operation.operationId), operation);
    void cache.refresh(getPrivateTransfer, listPrivateTransfers, getPrivateBalances);
  };
};

/** Retries the amount that did not arrive, and opens the new operation's page for approval. */
const useRetry = ({ operationId }: PrivateTransfer) => {
  const router = useRouter();
  const cache = useCache();
  const { mutation, send } = useSentOnce(retryOperation);
  const ask = async (): Promise<void> => {
    try {
      // The answer is parsed, because for public swaps and transfers the API answers a retry with
      // a quote.
      const again = privateTransferRecord.parse(await send({ params: { id: operationId } }));
      void cache.refresh(getOperation, listPrivateTransfers);
      router.push(`${pathOfTransfer(again)}?approve=true`);
    } catch (error) {
      toast.error(
        `This cannot be tried again now. ${describeError(error).message} Nothing more was sent.`,
      );
    }
  };
  return { ask, pending: mutation.isPending };
};

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether the approval was accepted is not known. Approving again is safe: the money moves once."
    : "Nothing was sent.";

export const TransferActions = ({
  transfer,
  operation,
  names,
}: TransferActionsProps): ReactNode => {
  const changed = useChanged();
  const approval = useSentOnce(approveOperation);
  const cancellation = useApiMutation(cancelOperation);
  const params = { id: transfer.operationId };
  const retry = useRetry(transfer);
  const may = operation?.may;
  const word = KIND_WORDS[transfer.kind].toLowerCase();
  return (
    <>
      {may?.cancel === true ? (
        <CancelAction
          label="Cancel"
          title={`Cancel this ${word}?`}
          text="Nothing was sent, and nothing will be. This cannot be undone; you can start it again."
          action={cancellation}
          money="It continues as before."
          confirmLabel={`Cancel the ${word}`}
          cancel={async () => changed(await cancellation.mutateAsync({ params }))}
          done="Cancelled. Nothing was sent."
        />
      ) : null}
      <ApproveAction
        mayApprove={may?.approve === true}
        votedId={transfer.operationId}
        noun={word}
        act={actText(ACTS[transfer.kind], [
          { amount: transfer.amount.amount, symbol: transfer.amount.token.symbol },
        ])}
        description="Approving sends exactly this receipt."
        subject={{ operationId: transfer.operationId }}
        money="Nothing was sent."
        moneyAfter={moneyAfter}
        approval={approval.mutation}
        onApprove={async (proof) => changed(await approval.send({ params, body: proof }))}
        done="Approved. It runs now."
      >
        <TransferFacts transfer={transfer} names={names} />
      </ApproveAction>
      {may?.retry === true ? (
        <Button variant="primary" loading={retry.pending} onClick={() => void retry.ask()}>
          {retry.pending ? null : <RotateCcw aria-hidden />} Try again
        </Button>
      ) : null}
    </>
  );
};

const ACTS = {
  shield: "Shield",
  private_transfer: "Pay",
  private_swap: "Swap",
  unshield: "Unshield",
  public_exit: "Withdraw",
} as const satisfies Record<PrivateTransfer["kind"], string>;

/**
 * Label of the amount once the operation is completed. Before that, nothing has arrived, so the
 * label is "Amount".
 */
const AMOUNT_WORDS = {
  shield: "Deposited",
  private_transfer: "Received exactly",
  private_swap: "Swapped",
  unshield: "Received exactly",
  public_exit: "Received exactly",
} as const satisfies Record<PrivateTransfer["kind"], string>;

type TransferFactsProps = Omit<TransferActionsProps, "operation">;

/**
 * The facts of an operation: the planned amounts while it runs, and afterwards the amounts that
 * arrived.
 */
export const TransferFacts = ({ transfer, names }: TransferFactsProps): ReactNode => {
  const { kind, toAddress, amount, minimum, received } = transfer;
  const makesNote = kind === "shield" || kind === "private_swap";
  return (
    <Facts>
      <Fact label="From">{names.payerName(transfer)}</Fact>
      <Fact label="To">
        {names.recipientName(transfer)}
        {toAddress === null ? null : (
          <>
            <br />
            <AddressGroups value={toAddress} className="justify-end" />
          </>
        )}
      </Fact>
      <Fact label="On">
        <ChainName chainId={transfer.chainId} />
      </Fact>
      <Fact label={transfer.status === "completed" ? AMOUNT_WORDS[kind] : "Amount"} strong>
        <TokenAmountText value={amount} whole />
      </Fact>
      {minimum === null ? null : (
        <Fact label="Minimum, before the pool's fee">
          <TokenAmountText value={minimum} whole />
        </Fact>
      )}
      {received === null || (!makesNote && received.amountBase === amount.amountBase) ? null : (
        <Fact label={makesNote ? "Your new note" : "Arrived so far"} strong>
          <TokenAmountText value={received} whole />
        </Fact>
      )}
      <Fact label="Started">
        <Time value={transfer.createdAt} absolute />
      </Fact>
      {transfer.expiresAt === null || transfer.status !== "pending" ? null : (
        <Fact label="Expires">
          <Time value={transfer.expiresAt} absolute />
        </Fact>
      )}
      <Fact label="Created by">
        <Actor id={transfer.createdBy} />
      </Fact>
    </Facts>
  );
};
