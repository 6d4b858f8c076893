"use client";

import type { ReactNode } from "react";
import { NamedAddress } from "@/components/features/names/named-address";
import { TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Card } from "@/components/ui/card";
import { StepRows, type StepRow } from "@/components/ui/step-rows";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { RefundDecision } from "./refund-decision";
import { legSteps, type LegStep } from "./leg-timeline";
import type { Leg, OperationEvent } from "./types";
import { useChainName } from "./use-chain-name";

interface LegCardProps {
  readonly operationId: string;
  readonly leg: Leg;
  readonly toChainId: number;
  /** The operation takes longer than usual. */
  readonly delayed: boolean;
  readonly events: readonly OperationEvent[];
}

const toRow = (step: LegStep): StepRow => ({
  id: step.id,
  title: step.title,
  state: step.state,
  note: step.note,
  detail:
    step.transaction?.txHash == null ? null : (
      <TxHash value={step.transaction.txHash} href={step.transaction.explorerUrl} />
    ),
  aside: step.at === null ? null : <Time value={step.at} clock />,
});

/** The deadline is over there. */
const BACK: ReadonlySet<Leg["state"]> = new Set(["refunding", "refund_seen", "needs_attention", "refunded"]);

const VIA_WORDS = {
  user_operation: "",
  transaction: ", which sends it itself",
  permit: ", which permitted the treasury to take exactly this",
} as const satisfies Record<Leg["via"], string>;

/** One part of the money: from which wallet, and how far it is. */
export const LegCard = ({ operationId, leg, toChainId, delayed, events }: LegCardProps): ReactNode => {
  const chainName = useChainName();
  const steps = legSteps(leg, { toChainId, chainName, events, delayed }).map(toRow);
  const deadline = leg.fillDeadline === null || isFinal(leg.status) || BACK.has(leg.state) ? null : leg.fillDeadline;
  const decides = leg.state === "needs_attention" && leg.attention !== null;
  return (
    <Card
      flush
      title={
        <>
          <Amount value={leg.sent.amount} unit={leg.sent.token.symbol} /> from <ChainName chainId={leg.chainId} />
        </>
      }
      description={
        <span className="flex flex-wrap items-center gap-x-1">
          From <NamedAddress value={leg.walletAddress} />
          {VIA_WORDS[leg.via]}
        </span>
      }
    >
      <StepRows label={`Steps from ${chainName(leg.chainId)}`} steps={steps} />
      {deadline === null && !decides ? null : (
        <div className="border-t px-4 py-2">
          {decides && leg.attention !== null ? (
            <RefundDecision operationId={operationId} legId={leg.id} attention={leg.attention} />
          ) : null}
          {deadline === null ? null : (
            <p className="text-sm text-fg-3">
              Delivered by <Time value={deadline} absolute />, or sent back after that.
            </p>
          )}
        </div>
      )}
    </Card>
  );
};
