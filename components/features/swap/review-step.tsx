"use client";

import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { BalanceChanges } from "./balance-changes";
import { Receipt } from "./receipt";
import type { SwapFlow } from "./use-swap-flow";

/** The receipt before the money moves. */
export const ReviewStep = ({ flow: swap }: { readonly flow: SwapFlow }): ReactNode => {
  const { flow } = swap;
  if (flow?.prepared == null) return null;
  const { quote, prepared } = flow;
  return (
    <div className="flex flex-col gap-4">
      <Receipt quote={quote} to={prepared.to} />
      <BalanceChanges changes={prepared.simulation.balanceChanges} />
      {prepared.actions.length === 0 ? null : (
        <Alert tone="warning" title="Some of these wallets sign for themselves">
          {prepared.actions.length} signatures are needed. Execute this quote over the API with them.
        </Alert>
      )}
    </div>
  );
};
