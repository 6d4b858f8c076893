import { formatAmount } from "@/lib/core/money";
import type { TokenTotal } from "./use-balances";

export interface ChainShare {
  readonly chainId: number;
  /** Exact decimal string in units of the token. */
  readonly amount: string;
  readonly parts: TokenTotal["breakdown"];
}

const rescaled = (base: string, from: number, to: number): bigint => BigInt(base) * 10n ** BigInt(to - from);

/** The amount of a token on each chain, scaled exactly to the largest number of decimals that the token has on any chain. */
export const byChain = (total: TokenTotal): ChainShare[] => {
  const decimals = Math.max(total.decimals, ...total.breakdown.map((part) => part.token.decimals));
  const chainIds = [...new Set(total.breakdown.map((part) => part.chainId))].sort((a, b) => a - b);
  return chainIds.map((chainId) => {
    const parts = total.breakdown.filter((part) => part.chainId === chainId);
    const sum = parts.reduce((all, part) => all + rescaled(part.amountBase, part.token.decimals, decimals), 0n);
    return { chainId, amount: formatAmount(sum, decimals), parts };
  });
};

export const isZero = (amount: string): boolean => !/[1-9]/.test(amount);
