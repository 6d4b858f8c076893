import { compareAmounts, subtractAmounts } from "@/components/features/swap/decimal";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { getReserves } from "@/lib/contracts/reserves";

export type Reserves = ResponseOf<typeof getReserves>["data"];

export interface Spendable {
  /** The amount that may be moved now; null while it is not known. */
  readonly amount: string | null;
  /**
   * The part of the balance that must stay because it backs global accounts; null when there is
   * none.
   */
  readonly backing: string | null;
}

export interface Shortage {
  readonly symbol: string;
  /** The part of the requested amount that may not be moved. */
  readonly missing: string;
  readonly spendable: string;
  readonly backing: string | null;
}

export interface RequestedAmount extends Spendable {
  readonly symbol: string;
  /** Decimal string; null while no amount is typed. */
  readonly requested: string | null;
}

/**
 * The shortage of the first source whose requested amount exceeds its spendable one; null when
 * there is none.
 */
export const shortageOf = (sources: readonly RequestedAmount[]): Shortage | null => {
  for (const { symbol, requested, amount, backing } of sources)
    if (requested !== null && amount !== null && compareAmounts(requested, amount) === 1)
      return {
        symbol,
        missing: subtractAmounts(requested, amount),
        spendable: amount,
        backing,
      };
  return null;
};
