"use client";

import type { ReactNode } from "react";
import { sumByAsset } from "@/components/features/operations/operation-sums";
import { Amount, Unknown, Worth } from "@/components/ui/amount";

const MINUTE = 60;

const FEE_WORDS = { bridge: "Bridge", swap: "Pools", gas: "Network" } as const;

interface Fee {
  readonly kind: keyof typeof FEE_WORDS;
  readonly amount: string;
  readonly token: {
    readonly symbol: string;
    readonly assetId: string;
    readonly decimals: number;
  };
  readonly usd?: string | null;
}

interface FeeLinesProps {
  readonly fees: readonly Fee[];
  /**
   * False before there is a route. An empty list then means that the fees are unknown, not zero.
   */
  readonly known?: boolean;
}

/** Fees by kind, added up per asset. They are already part of the rate. */
export const FeeLines = ({ fees, known = true }: FeeLinesProps): ReactNode => {
  if (!known && fees.length === 0) return <Unknown reason="Known once it is priced" />;
  const kinds = [...new Set(fees.map((fee) => fee.kind))];
  if (kinds.length === 0) return <span className="text-fg-3">none</span>;
  return (
    <ul className="flex flex-col gap-1">
      {kinds.map((kind) => {
        const members = fees.filter((fee) => fee.kind === kind);
        const [only] = members;
        return (
          <li key={kind} className="flex flex-wrap justify-end gap-x-2">
            <span className="text-fg-3">{FEE_WORDS[kind]}</span>
            {sumByAsset(members).map((sum) => (
              <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} />
            ))}
            {members.length === 1 && only?.usd != null ? (
              <span className="text-fg-3">
                <Worth value={only.usd} />
              </span>
            ) : null}
          </li>
        );
      })}
    </ul>
  );
};

/** 8 → `8 s`, 95 → `2 min`. */
export const secondsText = (seconds: number): string =>
  seconds < MINUTE ? `${seconds} s` : `${Math.ceil(seconds / MINUTE)} min`;
