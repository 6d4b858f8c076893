"use client";

import type { ReactNode } from "react";
import { secondsText } from "@/components/features/swap/seconds-text";
import { useNow } from "@/components/ui/use-now";
import type { PrivateTransfer } from "../types";
import { proofShare } from "./stage";

const TICK_MS = 250;
const PERCENT = 100;

/** How far the proof is, and about how long it still takes. */
export const ProofProgress = ({ proof }: { readonly proof: NonNullable<PrivateTransfer["proof"]> }): ReactNode => {
  const now = useNow(TICK_MS);
  const percent = now === null ? 0 : Math.round(proofShare(proof, now) * PERCENT);
  const left = proof.secondsLeft <= 1 ? "almost done" : `about ${secondsText(proof.secondsLeft)} left`;
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
