import { hasMoney } from "./amounts";
import type { PoolBalance, PrivacyWallet } from "./types";

interface Known {
  readonly balances: readonly PoolBalance[];
  /** The wallet of the newest private operation; undefined where there is none. */
  readonly lastUsed: string | undefined;
}

/** The private wallet that a page opens with: the one that was used last, else the oldest with money, else the oldest. */
export const openingWallet = (
  wallets: readonly PrivacyWallet[],
  { balances, lastUsed }: Known,
): PrivacyWallet | undefined => {
  const oldestFirst = [...wallets].sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  const withMoney = new Set(balances.filter(hasMoney).map(({ privacyWalletId }) => privacyWalletId));
  return (
    oldestFirst.find(({ privacyWalletId }) => privacyWalletId === lastUsed) ??
    oldestFirst.find(({ privacyWalletId }) => withMoney.has(privacyWalletId)) ??
    oldestFirst[0]
  );
};
