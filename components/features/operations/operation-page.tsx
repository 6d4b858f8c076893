"use client";

import { ApprovalAdvice } from "@/components/features/inbox/decision";
import { ArrowRight, Radio, RotateCw } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { AnnotationCard } from "@/components/features/annotations/annotation-card";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { DepositCard } from "@/components/features/deposits/deposit-card";
import { FlowPicture } from "@/components/features/flow-picture/flow-picture";
import {
  operationFlow,
  secondsLeft,
  timesOf,
} from "@/components/features/flow-picture/operation-flow";
import { NamedAddress, useActorInSentence, useNames } from "@/components/features/names/names";
import { EvaluationCard } from "@/components/features/policies/evaluation-card";
import { apiQuery } from "@/components/features/session/api-query";
import { useChainName } from "@/components/providers/public-config";
import { PublicId, TxHash } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { StatusBadge } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { DetailPage } from "@/components/ui/states";
import { Time, useNow } from "@/components/ui/time";
import { useTitleOptions } from "@/components/ui/use-locale";
import { getOperation, listActivity } from "@/lib/api-client/calls.gen";
import { isPrivateKind } from "@/lib/contracts/privacy-records";
import { OPERATION_WORDS } from "@/lib/core/titles";
import { isFinal } from "@/lib/core/status";
import { LegCard } from "./leg-card";
import type { Operation, OperationEvent } from "./operation";
import { OperationActions } from "./operation-actions";
import { type HeldPlace, heldPlaces } from "./operation-sums";
import { RawJson } from "./raw-json";
import { ReceiptCard } from "./receipt-card";
import { operationTitle, statusSentence } from "./sentences";
import { useOperation } from "./use-operation";

/**
 * Whether the receipt is alone in its row of the two columns. The memo then takes the other
 * column, because in a full-width receipt the labels would be far from their values.
 */
const isReceiptAlone = ({ deposit, legs }: Operation): boolean =>
  deposit === null && legs.length % 2 === 0;

const MONEY = "The operation continues without this page.";

interface OperationPageProps {
  readonly operationId: string;
}

export const OperationPage = ({ operationId }: OperationPageProps): ReactNode => {
  const { query, events, live } = useOperation(operationId);
  return (
    <DetailPage
      header={<OperationHeader operationId={operationId} operation={query.data} />}
      query={query}
      what="the operation"
      money={MONEY}
      stale="The state could not be refreshed"
    >
      {(operation) => (
        <>
          {isPrivateKind(operation.kind) ? (
            <PrivateNotice operationId={operation.operationId} />
          ) : null}
          {operation.deposit !== null ? (
            <DepositCard deposit={operation.deposit} />
          ) : (
            <>
              <FlowCard operation={operation} events={events} live={live} />
              <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
                {operation.legs.map((leg) => (
                  <LegCard
                    key={leg.id}
                    operationId={operation.operationId}
                    leg={leg}
                    toChainId={operation.quoted.to.chainId}
                    delayed={operation.subStatus === "delayed"}
                    events={events}
                  />
                ))}
                <ReceiptCard operation={operation} />
                {isReceiptAlone(operation) ? <AnnotationCard subjectId={operationId} /> : null}
              </div>
            </>
          )}
          {isReceiptAlone(operation) ? null : <AnnotationCard subjectId={operationId} />}
          <EvaluationCard evaluationId={operation.evaluationId} />
          <RawJson value={operation} />
          <ApiSnippet call={getOperation} params={{ id: operationId }} />
        </>
      )}
    </DetailPage>
  );
};

/**
 * Links to the full page of a private operation. That page's address contains the transfer's id,
 * which this notice reads from the activity list.
 */
const PrivateNotice = ({ operationId }: { readonly operationId: string }): ReactNode => {
  const { data } = useQuery(apiQuery(listActivity, { query: { q: operationId, limit: 1 } }));
  const transferId = data?.data[0]?.transferId ?? null;
  return (
    <Alert title="This operation is private">
      What an observer sees of it and its proofs are on{" "}
      <Link href={transferId === null ? "/private" : `/private/${transferId}`} className="link">
        its private page
      </Link>
      .
    </Alert>
  );
};

interface OperationHeaderProps {
  readonly operationId: string;
  /** Undefined while it loads. */
  readonly operation: Operation | undefined;
}

/**
 * The amounts, parties and status, and who started the operation and when. For a deposit, which
 * nobody in the project starts, it shows when the money was received.
 */
const OperationHeader = ({ operationId, operation }: OperationHeaderProps): ReactNode => {
  const { addressName } = useNames();
  const options = useTitleOptions();
  const actor = useActorInSentence();
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-2 pb-4">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 text-fg-2">
          {operation === undefined ? null : (
            <span>
              {OPERATION_WORDS[operation.kind]},{" "}
              {operation.deposit === null
                ? `started by ${actor(operation.createdBy)}`
                : "received"}{" "}
              <Time value={operation.createdAt} />
            </span>
          )}
          <PublicId value={operationId} className="text-fg-3" />
        </p>
        <h1 className="text-2xl font-semibold wrap-anywhere">
          {operation === undefined
            ? "Operation"
            : operationTitle(operation, { addressName, ...options })}
        </h1>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        {operation === undefined ? null : (
          <StatusBadge status={operation.status} subStatus={operation.subStatus} />
        )}
        <Link href="/activity" className={buttonLooks()}>
          All activity
        </Link>
      </div>
    </header>
  );
};

/** Interval at which the bands of the picture grow between two answers of the service. */
const TICK_MS = 500;

interface FlowCardProps {
  readonly operation: Operation;
  readonly events: readonly OperationEvent[];
  /** Whether the event stream is open. */
  readonly live: boolean;
}

const FlowCard = ({ operation, events, live }: FlowCardProps): ReactNode => {
  const chainName = useChainName();
  const { addressName, inSentence } = useNames();
  const final = isFinal(operation.status);
  const nowMs = useNow(TICK_MS) ?? Date.parse(operation.updatedAt);
  const sentence = statusSentence(operation, chainName);
  const left = secondsLeft(operation.legs, (leg) => timesOf(operation, leg, { events, nowMs }));
  return (
    <Card>
      {isPrivateKind(operation.kind) ? null : (
        <div className="pb-4">
          <FlowPicture
            flow={operationFlow(operation, { chainName, addressName, events, nowMs })}
            label="Flow of the money"
          />
        </div>
      )}
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="min-w-0">
          <p className="text-lg font-medium">{sentence}</p>
          <p role="status" className="sr-only">
            {sentence}
          </p>
          <p className="text-fg-2">
            {operation.may.approve ? (
              <ApprovalAdvice subjectId={operation.operationId} />
            ) : (
              inSentence(operation.outcome.nextAction)
            )}
          </p>
        </div>
        {final ? null : (
          <span className="flex items-center gap-3 text-fg-3">
            {left === null ? null : <span className="num">about {left} s left</span>}
            <Liveness live={live} />
          </span>
        )}
      </div>
      <OperationActions operation={operation} />
      <OperationFailure operation={operation} />
      <div className="pt-3 empty:hidden">
        <MoneyNow operation={operation} />
      </div>
    </Card>
  );
};

const Liveness = ({ live }: { readonly live: boolean }): ReactNode => (
  <span className="flex items-center gap-1.5 text-sm">
    {live ? (
      <Radio className="size-3.5" aria-hidden />
    ) : (
      <RotateCw className="size-3.5" aria-hidden />
    )}
    {live ? "Live" : "Refreshed every 2 s"}
  </span>
);

const OperationFailure = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const { failure, status, may, retriedBy } = operation;
  if (failure === null) return null;
  const refunded = status === "refunded";
  return (
    <div className="pt-3">
      <Alert
        tone={refunded ? "warning" : "danger"}
        title={refunded ? "Why the money came back" : "Why it failed"}
        actions={
          isFinal(status) && !may.retry && retriedBy === null ? (
            <Link href="/swap" className={buttonLooks({ size: "sm" })}>
              Get a new quote <ArrowRight aria-hidden />
            </Link>
          ) : undefined
        }
      >
        {failure.message} <code className="font-mono text-sm text-fg-2">{failure.code}</code>
      </Alert>
    </div>
  );
};

const MoneyNow = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const places = heldPlaces(operation.outcome.holds);
  if (places.length === 0) return null;
  return (
    <section aria-label="Where the money is now" className="min-w-0">
      <h2 className="font-semibold">Where the money is now</h2>
      <ul className="flex flex-col gap-1 pt-1 text-fg-2">
        {places.map((place) => (
          <li key={place.key} className="flex flex-wrap items-center gap-x-1.5">
            <HeldMoney place={place} />
          </li>
        ))}
      </ul>
    </section>
  );
};

const HeldMoney = ({ place }: { readonly place: HeldPlace }): ReactNode => (
  <>
    <Amount value={place.amount} unit={place.symbol} className="font-medium text-fg" />
    {place.wallet.startsWith("0x") ? (
      <>
        at <NamedAddress value={place.wallet} />
      </>
    ) : (
      <>in {place.wallet}</>
    )}{" "}
    on{" "}
    <span>
      <ChainName chainId={place.chainId} />
      {place.note === "received" ? "" : `, ${place.note}`}
    </span>
    {place.hashes.map((hash) => (
      <TxHash key={hash} value={hash} />
    ))}
  </>
);
