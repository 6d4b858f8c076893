"use client";

import type { ReactNode } from "react";
import { Address, TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { Timeline, type TimelineStep } from "@/components/ui/timeline";
import { isFinal } from "@/lib/core/status";
import { RefundDecision } from "./refund-decision";
import { legSteps, type LegStep } from "./leg-timeline";
import type { Leg, OperationEvent } from "./types";
import { useChainName } from "./use-chain-name";

interface LegCardProps {
  readonly operationId: string;
  readonly leg: Leg;
  readonly title: string;
  readonly toChainId: number;
  /** The operation takes longer than usual. */
  readonly delayed: boolean;
  readonly events: readonly OperationEvent[];
}

const StepDetail = ({ step }: { readonly step: LegStep }): ReactNode => (
  <>
    {step.note === null ? null : <p className="num whitespace-normal!">{step.note}</p>}
    {step.transaction?.txHash == null ? null : (
      <TxHash value={step.transaction.txHash} href={step.transaction.explorerUrl} />
    )}
  </>
);

const toTimelineStep = (step: LegStep): TimelineStep => ({
  id: step.id,
  title: step.title,
  state: step.state,
  ...(step.note === null && step.transaction === null ? {} : { detail: <StepDetail step={step} /> }),
  ...(step.at === null ? {} : { aside: <Time value={step.at} absolute /> }),
});

/** The deadline is over there. */
const BACK: ReadonlySet<Leg["state"]> = new Set(["refunding", "refund_seen", "needs_attention", "refunded"]);

const VIA_WORDS = {
  user_operation: "",
  transaction: ", which sends it itself",
  permit: ", which permitted the treasury to take exactly this",
} as const satisfies Record<Leg["via"], string>;

/** One part of the money: from which wallet, and how far it is. */
export const LegCard = ({ operationId, leg, title, toChainId, delayed, events }: LegCardProps): ReactNode => {
  const chainName = useChainName();
  const steps = legSteps(leg, { toChainId, chainName, events, delayed }).map(toTimelineStep);
  return (
    <Card
      title={title}
      actions={<Amount value={leg.sent.amount} unit={leg.sent.token.symbol} className="font-medium" />}
    >
      <p className="pb-3 text-sm text-fg-2">
        From <Address value={leg.walletAddress} /> on <ChainName chainId={leg.chainId} />
        {VIA_WORDS[leg.via]}
      </p>
      <Timeline label={`Steps of ${title.toLowerCase()}`} steps={steps} />
      {leg.state === "needs_attention" && leg.attention !== null ? (
        <RefundDecision operationId={operationId} legId={leg.id} attention={leg.attention} />
      ) : null}
      {leg.fillDeadline === null || isFinal(leg.status) || BACK.has(leg.state) ? null : (
        <p className="text-sm text-fg-3">
          Delivered by <Time value={leg.fillDeadline} absolute />, or sent back after that.
        </p>
      )}
    </Card>
  );
};
