import type { TokenTotal } from "./use-balances";

export type ChainShare = TokenTotal["chains"][number] & {
  /** The wallets of the listed page. */
  readonly parts: TokenTotal["breakdown"];
};

/** What an asset is made of on each chain, over all wallets, in the order of the chains' ids. */
export const byChain = (total: TokenTotal): ChainShare[] =>
  [...total.chains]
    .sort((one, other) => one.chainId - other.chainId)
    .map((share) => ({ ...share, parts: total.breakdown.filter(({ chainId }) => chainId === share.chainId) }));

export const isZero = (amount: string): boolean => !/[1-9]/.test(amount);

/** Whether nothing is there and nothing is on its way. */
export const isEmpty = ({ amount, pendingIn }: { readonly amount: string; readonly pendingIn: string }): boolean =>
  isZero(amount) && isZero(pendingIn);
