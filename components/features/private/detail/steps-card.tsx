"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";
import { TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { Timeline, type StepState, type TimelineStep } from "@/components/ui/timeline";
import { isFinal } from "@/lib/core/status";
import type { PrivateTransfer } from "../types";

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

const Detail = ({
  step,
  symbol,
  explorerUrl,
}: {
  step: Step;
  symbol: string;
  explorerUrl: string | null;
}): ReactNode => (
  <>
    <p>
      <Amount value={step.withdrawn} unit={symbol} /> leaves the note
    </p>
    {step.txHash === null ? null : (
      <TxHash value={step.txHash} href={explorerUrl === null ? null : `${explorerUrl}/tx/${step.txHash}`} />
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

const approvalStep = ({ status, subStatus, createdAt }: PrivateTransfer): TimelineStep => {
  const waits = status === "pending" && subStatus === "awaiting_approval";
  const wasEnded = status === "cancelled" || status === "expired";
  return {
    id: "approval",
    title: waits ? "Waiting for approval" : wasEnded ? "Ended before anything was sent" : "Accepted",
    state: waits ? "current" : wasEnded ? "ended" : "done",
    aside: <Time value={createdAt} absolute />,
  };
};

/** One line for each note that is spent: its proof, its transaction, and its result. */
export const StepsCard = ({ transfer }: { readonly transfer: PrivateTransfer }): ReactNode => {
  const explorerUrl = useChain(transfer.chainId)?.explorerUrl ?? null;
  const { steps, proof, amount, status } = transfer;
  const proving = proof === null ? -1 : steps.findIndex(({ state }) => state === "queued");
  const lines = steps.map((step, index): TimelineStep => {
    const note = steps.length === 1 ? "Note" : `Note ${String(index + 1)} of ${String(steps.length)}`;
    const title = index === proving ? "Making the proof" : TITLES[step.state];
    return {
      id: String(index),
      title: `${note}: ${title.charAt(0).toLowerCase()}${title.slice(1)}`,
      // One proof at a time: the notes behind it wait.
      state: proving !== -1 && index > proving && step.state === "queued" ? "todo" : stateOf(step, isFinal(status)),
      detail: <Detail step={step} symbol={amount.token.symbol} explorerUrl={explorerUrl} />,
    };
  });
  return (
    <Card title="Timeline">
      <Timeline label="Steps of the operation" steps={[approvalStep(transfer), ...lines]} />
    </Card>
  );
};
