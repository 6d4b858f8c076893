import { amountText } from "@/lib/core/amount-text";

/**
 * An act in the words of its button, with every digit.
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

/** The act of a movement that other people have to approve: `Ask for 2 approvals`. */
export const askText = (count: number): string =>
  `Ask for ${String(count)} ${count === 1 ? "approval" : "approvals"}`;
