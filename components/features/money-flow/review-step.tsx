"use client";

import type { ReactNode } from "react";
import { SigningSteps } from "@/components/features/signing/signing-steps";
import { Alert } from "@/components/ui/alert";
import { Fact, Facts } from "@/components/ui/card";
import { BalanceChanges } from "./balance-changes";
import { NetworkFee } from "./network-fee";
import type { MoveFlow } from "./use-move-flow";

/** The receipt before the money moves, and the steps that the person's own wallets have to sign. */
export const ReviewStep = ({ flow: move }: { readonly flow: MoveFlow }): ReactNode => {
  const { flow } = move;
  if (flow?.prepared == null) return null;
  const { subject, prepared } = flow;
  return (
    <div className="flex flex-col gap-4">
      {subject.receipt(prepared.to)}
      <Facts>
        <Fact label="Network fee">
          <NetworkFee paidBy={prepared.networkFees.map(({ paidBy }) => paidBy)} />
        </Fact>
      </Facts>
      {prepared.warnings.map((warning) => (
        <Alert key={warning.code + warning.message} tone="warning">
          {warning.message}
        </Alert>
      ))}
      <BalanceChanges changes={prepared.simulation.balanceChanges} />
      <SigningSteps signing={move.signing} onGoOn={() => void move.execute()} />
    </div>
  );
};
