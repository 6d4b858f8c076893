"use client";

import { Radio, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { FlowPicture } from "@/components/features/flow-picture/flow-picture";
import { secondsLeft } from "@/components/features/flow-picture/leg-progress";
import { operationFlow, timesOf } from "@/components/features/flow-picture/operation-flow";
import { useNames } from "@/components/features/names/use-names";
import { Card } from "@/components/ui/card";
import { useNow } from "@/components/ui/use-now";
import { isPrivateKind } from "@/lib/contracts/privacy-records";
import { isFinal } from "@/lib/core/status";
import { MoneyNow } from "./money-now";
import { OperationActions } from "./operation-actions";
import { OperationFailure } from "./operation-failure";
import { statusSentence } from "./sentences";
import type { Operation, OperationEvent } from "./types";
import { useChainName } from "./use-chain-name";

/** Bands grow by themselves between two answers of the service. */
const TICK_MS = 500;

interface FlowCardProps {
  readonly operation: Operation;
  readonly events: readonly OperationEvent[];
  /** Whether changes arrive by the stream. */
  readonly live: boolean;
}

/** The life of the operation as a picture, its state in one sentence, where the money is, and what to do. */
export const FlowCard = ({ operation, events, live }: FlowCardProps): ReactNode => {
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
            {operation.may.approve
              ? "Approve it with a one-time code, or cancel it."
              : inSentence(operation.outcome.nextAction)}
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
    {live ? <Radio className="size-3.5" aria-hidden /> : <RotateCw className="size-3.5" aria-hidden />}
    {live ? "Live" : "Refreshed every 2 s"}
  </span>
);
