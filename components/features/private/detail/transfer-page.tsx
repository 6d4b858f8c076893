"use client";

import { ApprovalAdvice } from "@/components/features/inbox/decision";
import Link from "next/link";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { LegCard } from "@/components/features/operations/leg-card";
import { type Operation, operationQuery } from "@/components/features/operations/operation";
import { RawJson } from "@/components/features/operations/raw-json";
import { useOperation } from "@/components/features/operations/use-operation";
import { secondsText } from "@/components/features/swap/fee-lines";
import { useChain } from "@/components/providers/public-config";
import { Desk } from "@/components/layout/desk";
import { PublicId, TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { StatusBadge } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { DetailPage } from "@/components/ui/states";
import { Time, useNow } from "@/components/ui/time";
import { type StepState, Timeline, type TimelineStep } from "@/components/ui/timeline";
import { useLocale } from "@/components/ui/use-locale";
import { getPrivateTransfer } from "@/lib/api-client/calls.gen";
import { isFinal } from "@/lib/core/status";
import { ObserverCard } from "../observer/observer-card";
import { Honesty, pictureAmount, type PrivateTransfer } from "../parts";
import { type PrivateNames, usePrivateNames } from "../names";
import { KIND_WORDS, usePrivateTransfer } from "../use-private";
import { observedOf, proofShare, sentenceOf } from "./stage";
import { TransferActions, TransferFacts } from "./transfer-actions";

export const TransferPage = ({ transferId }: { readonly transferId: string }): ReactNode => {
  const query = usePrivateTransfer(transferId);
  return (
    <DetailPage
      header={
        query.data === undefined ? (
          <PageHeader
            title="Private operation"
            description={<PublicId value={transferId} full />}
            actions={<BackLink />}
          />
        ) : (
          <TransferHeader transfer={query.data} />
        )
      }
      query={query}
      what="the operation"
      money="The operation continues without this page."
      stale="The state could not be refreshed"
    >
      {(transfer) => <LoadedTransfer transfer={transfer} />}
    </DetailPage>
  );
};

const BackLink = (): ReactNode => (
  <Link href="/private" className={buttonLooks()}>
    Private balances
  </Link>
);

type AmountText = typeof pictureAmount;

/** `25 USDC → Acme GmbH`. */
const titleOf = (transfer: PrivateTransfer, names: PrivateNames, text: AmountText): string => {
  const { amount, kind, received, minimum } = transfer;
  const sent = text(amount.amount, amount.token.symbol);
  if (kind !== "private_swap") return `${sent} → ${names.recipientName(transfer)}`;
  const out = received ?? minimum ?? amount;
  const arrives = text(out.amount, out.token.symbol);
  return `${sent} → ${received === null ? "at least " : ""}${arrives}`;
};

interface TransferProps {
  readonly transfer: PrivateTransfer;
}

const useAmountText = (): AmountText => {
  const hideable = useHideableText();
  const locale = useLocale();
  return (amount, symbol) => hideable(pictureAmount(amount, symbol, locale));
};

const TransferHeader = ({ transfer }: TransferProps): ReactNode => {
  const names = usePrivateNames();
  const text = useAmountText();
  const operation = useQuery(operationQuery(transfer.operationId)).data;
  return (
    <PageHeader
      title={titleOf(transfer, names, text)}
      description={
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {KIND_WORDS[transfer.kind]} <PublicId value={transfer.transferId} />
          <StatusBadge status={transfer.status} subStatus={transfer.subStatus} />
        </span>
      }
      actions={
        <>
          <TransferActions transfer={transfer} operation={operation} names={names} />
          <BackLink />
        </>
      }
    />
  );
};

const LoadedTransfer = ({ transfer }: TransferProps): ReactNode => {
  const names = usePrivateNames();
  const text = useAmountText();
  const { query, events } = useOperation(transfer.operationId);
  const operation = query.data;
  const observed = observedOf(transfer, {
    wallet: names.walletName(transfer.privacyWalletId),
    recipient: names.recipientName(transfer),
    amount: text,
  });
  return (
    <>
      <Desk
        fields={
          <>
            <NowCard transfer={transfer} operation={operation} />
            <ObserverCard observed={observed} />
            {operation === undefined || operation.legs.length === 0 ? (
              <StepsCard transfer={transfer} />
            ) : (
              operation.legs.map((leg) => (
                <LegCard
                  key={leg.id}
                  operationId={operation.operationId}
                  leg={leg}
                  toChainId={transfer.chainId}
                  delayed={operation.subStatus === "delayed"}
                  events={events}
                />
              ))
            )}
          </>
        }
        receipt={
          <Card title="Receipt">
            <div className="flex flex-col gap-3">
              <TransferFacts transfer={transfer} names={names} />
              <Honesty {...transfer} setSize={transfer.anonymitySet} />
            </div>
          </Card>
        }
      />
      <RawJson value={transfer} />
      <ApiSnippet call={getPrivateTransfer} params={{ id: transfer.transferId }} />
    </>
  );
};

const WhereItIs = ({
  operation: { outcome },
}: {
  readonly operation: Operation;
}): ReactNode => (
  <p className="text-fg-2">
    <strong className="font-medium text-fg">Where the money is now.</strong>{" "}
    {outcome.holds.map(({ amount, token, note }, index) => (
      <span key={index}>
        <Amount value={amount} unit={token.symbol} plain /> {note}.{" "}
      </span>
    ))}
  </p>
);

interface NowCardProps {
  readonly transfer: PrivateTransfer;
  readonly operation: Operation | undefined;
}

const NowCard = ({ transfer, operation }: NowCardProps): ReactNode => {
  const waits = transfer.subStatus === "awaiting_approval" && transfer.status === "pending";
  return (
    <Card>
      <div className="flex flex-col gap-3">
        <p role="status" className="text-lg font-medium">
          {sentenceOf(transfer)}
        </p>
        {transfer.proof === null ? null : <ProofProgress proof={transfer.proof} />}
        {waits ? (
          <p className="text-fg-2">
            <ApprovalAdvice subjectId={transfer.operationId} />
          </p>
        ) : null}
        {waits || operation === undefined ? null : (
          <>
            <WhereItIs operation={operation} />
            <p className="text-fg-2">{operation.outcome.nextAction}</p>
          </>
        )}
        {transfer.failure === null ? null : (
          <Alert tone="danger" title="Why it failed">
            {transfer.failure.message}{" "}
            <code className="font-mono text-sm text-fg-2">{transfer.failure.code}</code>
          </Alert>
        )}
      </div>
    </Card>
  );
};

const TICK_MS = 250;
const PERCENT = 100;

const ProofProgress = ({
  proof,
}: {
  readonly proof: NonNullable<PrivateTransfer["proof"]>;
}): ReactNode => {
  const now = useNow(TICK_MS);
  const percent = now === null ? 0 : Math.round(proofShare(proof, now) * PERCENT);
  const left =
    proof.secondsLeft <= 1 ? "almost done" : `about ${secondsText(proof.secondsLeft)} left`;
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4 text-sm">
        <span id="proof-progress" className="font-medium text-private">
          Making the proof
        </span>
        <span className="num text-fg-2">{left}</span>
      </div>
      <div
        role="progressbar"
        aria-labelledby="proof-progress"
        aria-valuemin={0}
        aria-valuemax={PERCENT}
        aria-valuenow={percent}
        aria-valuetext={`${String(percent)} %, ${left}`}
        className="h-2 overflow-hidden rounded-control bg-private-tint"
      >
        <div
          className="h-full rounded-control bg-private transition-[width] duration-150"
          style={{ width: `${String(percent)}%` }}
        />
      </div>
    </div>
  );
};

type Step = PrivateTransfer["steps"][number];

const TITLES = {
  queued: "Waiting for its proof",
  proved: "Proof made, about to be sent",
  submitted: "Sent, waiting for confirmations",
  completed: "Done",
  failed: "Failed",
} as const satisfies Record<Step["state"], string>;

const stateOf = (step: Step, ended: boolean): StepState => {
  if (step.state === "completed") return "done";
  if (step.state === "failed") return "failed";
  return ended ? "todo" : "current";
};

interface NoteDetailProps {
  readonly step: Step;
  readonly transfer: PrivateTransfer;
}

const NoteDetail = ({ step, transfer }: NoteDetailProps): ReactNode => {
  const explorerUrl = useChain(transfer.chainId)?.explorerUrl ?? null;
  return (
    <>
      <p>
        <Amount value={step.withdrawn} unit={transfer.amount.token.symbol} /> leaves the note
      </p>
      {step.txHash === null ? null : (
        <TxHash
          value={step.txHash}
          href={explorerUrl === null ? null : `${explorerUrl}/tx/${step.txHash}`}
        />
      )}
      {step.waits === null ? null : (
        <p>
          Sent <Time value={step.waits.since} />. {step.waits.nextAction}
        </p>
      )}
      {step.failure === null ? null : (
        <p className="text-danger">
          {step.failure.message} <code className="font-mono text-xs">{step.failure.code}</code>
        </p>
      )}
    </>
  );
};

const approvalStep = ({ status, subStatus, createdAt }: PrivateTransfer): TimelineStep => {
  const step = { id: "approval", aside: <Time value={createdAt} absolute /> };
  if (status === "pending" && subStatus === "awaiting_approval")
    return { ...step, title: "Waiting for approval", state: "current" };
  if (status === "cancelled" || status === "expired")
    return { ...step, title: "Ended before anything was sent", state: "ended" };
  return { ...step, title: "Accepted", state: "done" };
};

const StepsCard = ({ transfer }: TransferProps): ReactNode => {
  const { steps, proof, status } = transfer;
  const proving = proof === null ? -1 : steps.findIndex(({ state }) => state === "queued");
  const lines = steps.map((step, index): TimelineStep => {
    const note =
      steps.length === 1 ? "Note" : `Note ${String(index + 1)} of ${String(steps.length)}`;
    const title = index === proving ? "Making the proof" : TITLES[step.state];
    // Later notes wait, because proofs are made one at a time.
    const waits = proving !== -1 && index > proving && step.state === "queued";
    return {
      id: String(index),
      title: `${note}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`,
      state: waits ? "todo" : stateOf(step, isFinal(status)),
      detail: <NoteDetail step={step} transfer={transfer} />,
    };
  });
  return (
    <Card title="Timeline">
      <Timeline label="Steps of the operation" steps={[approvalStep(transfer), ...lines]} />
    </Card>
  );
};
