import { formatAmount } from "@/lib/core/money";
import type { UnifiedBalances } from "./service";

/** A price change that moves the total by about this share changes the fingerprint. */
const PRICE_STEP = 0.01;

/**
 * The worth of all balances in logarithmic steps of one percent. Floats are exact enough to decide
 * whether a page should reload.
 */
const worthStep = ({ totals, priceOf }: UnifiedBalances): string => {
  const usd = totals
    .flatMap(({ positions }) => positions)
    .reduce((sum, { token, amountBase }) => {
      const price = priceOf(token);
      return price === null
        ? sum
        : sum + Number(formatAmount(amountBase, token.decimals)) * Number(price);
    }, 0);
  return usd <= 0 ? "0" : String(Math.round(Math.log(usd) / PRICE_STEP));
};

/** A text that changes when any balance, an incoming or outgoing amount, or the worth changes. */
export const fingerprintOf = (balances: UnifiedBalances): string =>
  [
    ...balances.totals.flatMap(({ assetId, positions }) =>
      positions.map(
        ({ walletId, token, amountBase, availableBase, pendingInBase }) =>
          `${walletId} ${assetId} ${String(token.chainId)} ${String(amountBase)} ${String(availableBase)} ${String(pendingInBase)}`,
      ),
    ),
    ...balances.stale.map(({ chainId, reason }) => `${String(chainId)} ${reason}`),
    worthStep(balances),
  ]
    .sort()
    .join("\n");
