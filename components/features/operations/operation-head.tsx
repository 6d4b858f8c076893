"use client";

import { ArrowRight, Radio, RotateCw } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { Fact, Facts, Sheet } from "@/components/ui/sheet";
import { StatusBadge } from "@/components/ui/status-badge";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { statusSentence } from "./sentences";
import type { Operation } from "./types";
import { useChainName } from "./use-chain-name";

interface OperationHeadProps {
  readonly operation: Operation;
  /** Whether changes arrive by the stream. */
  readonly live: boolean;
}

/** The state in one sentence, what to do, and why it failed where it did. */
export const OperationHead = ({ operation, live }: OperationHeadProps): ReactNode => {
  const chainName = useChainName();
  const sentence = statusSentence(operation, chainName);
  const final = isFinal(operation.status);
  return (
    <Sheet
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
      <p className="pt-1 text-fg-2">{operation.outcome.nextAction}</p>
      {operation.failure === null ? null : <Failure operation={operation} failure={operation.failure} />}
      <Facts className="mt-3 border-t">
        <Fact label="Started">
          <Time value={operation.createdAt} absolute />
        </Fact>
        <Fact label={final ? "Ended" : "Last change"}>
          <Time value={operation.updatedAt} absolute />
        </Fact>
      </Facts>
    </Sheet>
  );
};

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
        isFinal(operation.status) ? (
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
