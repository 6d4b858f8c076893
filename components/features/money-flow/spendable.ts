import { compareAmounts, smallerAmount, subtractAmounts } from "@/components/features/swap/decimal";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { getReserves } from "@/lib/contracts/reserves";

export type Reserves = ResponseOf<typeof getReserves>["data"];

/** The place that money would leave, and the amount that may be moved there when global accounts are not considered. */
export interface SpendPlace {
  readonly isTreasury: boolean;
  readonly chainId: number;
  readonly assetId: string;
  /** Null while it is not known. */
  readonly available: string | null;
}

export interface Spendable {
  /** The amount that may be moved now; null while it is not known. */
  readonly amount: string | null;
  /** How much of the balance must stay, because it backs what global accounts hold; null where nothing must. */
  readonly backing: string | null;
}

/**
 * The treasury backs global accounts with what it holds over all chains, so that only the rest may leave it, wherever it lies. Other
 * wallets back nothing.
 * @param reserves undefined while they are read: then nothing is known of the treasury
 */
export const spendableOf = (place: SpendPlace, reserves: Reserves | undefined): Spendable => {
  const { available } = place;
  if (available === null || !place.isTreasury) return { amount: available, backing: null };
  if (reserves === undefined) return { amount: null, backing: null };
  const reserve = reserves.find(({ assetId }) => assetId === place.assetId);
  const backs = reserve?.chains.some(({ chainId, backs: is }) => is && chainId === place.chainId) === true;
  if (reserve === undefined || !backs || compareAmounts(reserve.liabilities, "0") === 0)
    return { amount: available, backing: null };
  const amount = smallerAmount(available, reserve.available);
  const kept = subtractAmounts(available, amount);
  return { amount, backing: compareAmounts(kept, "0") === 0 ? null : kept };
};

export interface Shortage {
  readonly symbol: string;
  /** By how much more is asked for than may be moved. */
  readonly missing: string;
  readonly spendable: string;
  readonly backing: string | null;
}

export interface Asked extends Spendable {
  readonly symbol: string;
  /** Plain decimal string; null while no amount is typed. */
  readonly asked: string | null;
}

/** The first source that asks for more than it may give; null where none does, or where it is not known. */
export const shortageOf = (sources: readonly Asked[]): Shortage | null => {
  for (const { symbol, asked, amount, backing } of sources)
    if (asked !== null && amount !== null && compareAmounts(asked, amount) === 1)
      return { symbol, missing: subtractAmounts(asked, amount), spendable: amount, backing };
  return null;
};
