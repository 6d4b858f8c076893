import { toScaled } from "@/components/features/swap/decimal";
import { sharesOf } from "@/lib/core/amount-text";
import type { TokenTotal } from "./use-balances";

export type ChainShare = TokenTotal["chains"][number] & {
  /** The wallets of the listed page. */
  readonly parts: TokenTotal["breakdown"];
};

/** The shares of each chain in an asset's total, over all wallets, in the order of the chains' ids. */
export const byChain = (total: TokenTotal): ChainShare[] =>
  [...total.chains]
    .sort((one, other) => one.chainId - other.chainId)
    .map((share) => ({ ...share, parts: total.breakdown.filter(({ chainId }) => chainId === share.chainId) }));

const WHOLE_PERCENT = 100;

/** Percents of amounts of one token. They add up to 100; zeros where there is nothing. */
export const chainShares = (amounts: readonly string[], decimals: number): readonly number[] =>
  sharesOf(
    amounts.map((amount) => toScaled(amount, decimals) ?? 0n),
    WHOLE_PERCENT,
  );

export const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

/** Whether nothing is there and nothing is on its way. */
export const isEmpty = ({ amount, pendingIn }: { readonly amount: string; readonly pendingIn: string }): boolean =>
  isZero(amount) && isZero(pendingIn);
