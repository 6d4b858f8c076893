"use client";

import { ArrowRight, Radio, RotateCw } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { CopyButton } from "@/components/ui/copy-button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { OperationActions } from "./operation-actions";
import { statusSentence } from "./sentences";
import type { Operation } from "./types";
import { useChainName } from "./use-chain-name";

const ID_HEAD = 8;

interface OperationHeadProps {
  readonly operation: Operation;
  /** Whether the page receives the operation's events over an open stream. */
  readonly live: boolean;
}

/** The card with an operation's state in one sentence, the next action, and the reason if the operation failed. */
export const OperationHead = ({ operation, live }: OperationHeadProps): ReactNode => {
  const chainName = useChainName();
  const sentence = statusSentence(operation, chainName);
  const final = isFinal(operation.status);
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2">
          Status <StatusBadge status={operation.status} subStatus={operation.subStatus} />
        </span>
      }
      actions={final ? null : <Liveness live={live} />}
    >
      <p className="text-lg font-medium">{sentence}</p>
      <p role="status" className="sr-only">
        {sentence}
      </p>
      <p className="pt-1 text-fg-2">
        {operation.may.approve ? "Approve it with a one-time code, or cancel it." : operation.outcome.nextAction}
      </p>
      <OperationActions operation={operation} />
      {operation.failure === null ? null : <Failure operation={operation} failure={operation.failure} />}
      <Facts className="mt-3 border-t">
        <Fact label="Started">
          <Time value={operation.createdAt} absolute />
        </Fact>
        <Fact label={final ? "Ended" : "Last change"}>
          <Time value={operation.updatedAt} absolute />
        </Fact>
        {operation.status === "pending" && operation.expiresAt !== null ? (
          <Fact label="Ends by itself, with nothing sent">
            <Time value={operation.expiresAt} absolute />
          </Fact>
        ) : null}
        {operation.retryOf === null ? null : (
          <Fact label="Tries again what failed in">
            <OperationLink id={operation.retryOf} />
          </Fact>
        )}
        {operation.retriedBy === null ? null : (
          <Fact label="Tried again by">
            <OperationLink id={operation.retriedBy} />
          </Fact>
        )}
      </Facts>
    </Card>
  );
};

const OperationLink = ({ id }: { readonly id: string }): ReactNode => (
  <span className="inline-flex items-center">
    <Link href={`/activity/${id}`} className="link font-mono text-sm">
      {shorten(id, ID_HEAD)}
    </Link>
    <CopyButton value={id} label="Copy id" />
  </span>
);

const Liveness = ({ live }: { readonly live: boolean }): ReactNode => (
  <span className="flex items-center gap-1.5 text-sm text-fg-3">
    {live ? <Radio className="size-3.5" aria-hidden /> : <RotateCw className="size-3.5" aria-hidden />}
    {live ? "Live" : "Refreshed every 2 s"}
  </span>
);

interface FailureProps {
  readonly operation: Operation;
  readonly failure: NonNullable<Operation["failure"]>;
}

const Failure = ({ operation, failure }: FailureProps): ReactNode => (
  <div className="pt-3">
    <Alert
      tone={operation.status === "refunded" ? "warning" : "danger"}
      title={operation.status === "refunded" ? "Why the money came back" : "What went wrong"}
      actions={
        isFinal(operation.status) && !operation.may.retry && operation.retriedBy === null ? (
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
