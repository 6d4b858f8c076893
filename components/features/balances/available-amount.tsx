"use client";

import type { ReactNode } from "react";
import { isZero } from "@/components/features/overview/sums";
import { HeldAmount } from "@/components/ui/held-amount";
import type { MovingAmounts } from "./balance-tree";

const MOVES = [
  ["backing", "backs accounts"],
  ["reserved", "reserved"],
  ["pendingOut", "going out"],
  ["quarantined", "in quarantine"],
  ["pendingIn", "coming in"],
] as const;

interface AvailableAmountProps {
  readonly amounts: MovingAmounts;
  readonly unit: string;
  /** For amounts inside links. */
  readonly plain?: boolean;
}

/** The amount that may be moved now. Where it is not the whole balance, the balance and its other parts stand below. */
export const AvailableAmount = ({ amounts, unit, plain = false }: AvailableAmountProps): ReactNode => {
  const moves = MOVES.flatMap(([part, word]) => {
    const amount = amounts[part] ?? "0";
    return isZero(amount) ? [] : [{ part, word, amount }];
  });
  return (
    <>
      <HeldAmount value={amounts.available} unit={unit} plain={plain} column={6} />
      {moves.length === 0 ? null : (
        <span className="flex flex-wrap justify-end gap-x-3 pb-1 text-sm text-fg-3 @max-[44rem]:flex-col @max-[44rem]:items-end">
          <span>
            Balance <HeldAmount value={amounts.amount} symbol={unit} plain />
          </span>
          {moves.map(({ part, word, amount }) => (
            <span key={part}>
              <HeldAmount value={amount} symbol={unit} plain /> {word}
            </span>
          ))}
        </span>
      )}
    </>
  );
};
