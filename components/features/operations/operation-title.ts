import { amountText } from "@/lib/core/amount-text";
import { isFinal } from "@/lib/core/status";
import { sumByAsset } from "./asset-sums";
import type { Operation } from "./types";

interface TitleWords {
  readonly addressName: (address: string) => string;
  /** Whether amounts are hidden; the title then names the tokens alone. */
  readonly hidden: boolean;
  /** BCP 47. */
  readonly locale: string;
}

const isNothing = (amount: string): boolean => !/[1-9]/.test(amount);

/** The received amount, once it is known; before that, and where nothing was received, the expected amount. */
const shownOut = ({ status, quoted, actual }: Operation): string =>
  isFinal(status) && !isNothing(actual.received.amount) ? actual.received.amount : quoted.to.amount;

/**
 * `200.00 USDC → 0.0666302 WETH` for what changes the token, `1,250.00 DAI → Ada` for what only moves it. A deposit of coins has no
 * sources, so a deposit is named by what it brought.
 */
export const operationTitle = (operation: Operation, { addressName, hidden, locale }: TitleWords): string => {
  const { quoted, deposit } = operation;
  const written = (amount: string, symbol: string): string =>
    hidden ? symbol : `${amountText(amount, { symbol, locale }).text} ${symbol}`;
  if (deposit !== null) {
    const { amount, token } = deposit.received;
    return `${written(amount, token.symbol)} → ${addressName(deposit.walletAddress)}`;
  }
  const sums = sumByAsset(quoted.from);
  const sent = sums.map(({ amount, symbol }) => written(amount, symbol)).join(" + ");
  const { token } = quoted.to;
  const changes = sums.some(({ assetId }) => assetId !== token.assetId);
  return `${sent} → ${changes ? written(shownOut(operation), token.symbol) : addressName(quoted.to.address)}`;
};
