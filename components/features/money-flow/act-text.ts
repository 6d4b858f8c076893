import { amountText } from "@/lib/core/amount-text";

/**
 * Label of the button that approves. Amounts have all their digits.
 * @example actText("Pay", [{ amount: "20", symbol: "USDC" }]) // "Pay 20.00 USDC"
 */
export const actText = (
  verb: string,
  amounts: readonly { readonly amount: string; readonly symbol: string }[],
): string => {
  const texts = amounts.map(
    ({ amount, symbol }) => `${amountText(amount, { symbol, exact: true }).text} ${symbol}`,
  );
  return `${verb} ${texts.join(" and ")}`;
};

/** Label of the button for a movement that other people must approve: `Ask for 2 approvals`. */
export const askText = (count: number): string =>
  `Ask for ${String(count)} ${count === 1 ? "approval" : "approvals"}`;
