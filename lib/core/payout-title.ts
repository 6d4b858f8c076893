/** How a payout is called in lists, on its pages and in files. Browser-safe. */
import { amountText, countText } from "./amount-text";

interface TitledPayout {
  /** The name that its maker gave it; null where none was given. */
  readonly reference: string | null;
  /** The sum in each token. */
  readonly totals: readonly { readonly amount: string; readonly symbol: string }[];
  readonly recipients: number;
}

interface TitleOptions {
  /** Whether amounts are hidden; the title then names the tokens alone. */
  readonly hidden?: boolean;
  /** BCP 47; default: that of the browser. */
  readonly locale?: string;
}

/** With more tokens the first one is named, and the others are counted. */
const TOKENS_NAMED = 2;

/**
 * The reference of a payout, else the amounts and the number of recipients.
 * @example payoutTitle({ reference: null, totals: [{ amount: "1250", symbol: "USDC" }], recipients: 12 }) // "1,250.00 USDC to 12 recipients"
 */
export const payoutTitle = (
  { reference, totals, recipients }: TitledPayout,
  { hidden = false, locale }: TitleOptions = {},
): string => {
  if (reference !== null) return reference;
  const named = totals.length > TOKENS_NAMED ? totals.slice(0, 1) : totals;
  const sums = named.map(({ amount, symbol }) =>
    hidden ? symbol : `${amountText(amount, { symbol, locale }).text} ${symbol}`,
  );
  const others = totals.length - named.length;
  const all = [...sums, ...(others === 0 ? [] : [`${countText(others, locale)} more tokens`])].join(" + ");
  return `${all} to ${countText(recipients, locale)} ${recipients === 1 ? "recipient" : "recipients"}`;
};

/** A payout as a list of movements has it. */
interface MovedPayout {
  readonly reference: string | null;
  readonly sent: readonly { readonly amount: string; readonly token: { readonly symbol: string } }[];
  /** `count` only where there are several recipients. */
  readonly counterparty: { readonly type: string; readonly count?: number } | null;
}

/** As `payoutTitle`, of a payout among other movements. */
export const movedPayoutTitle = (
  { reference, sent, counterparty }: MovedPayout,
  options: TitleOptions = {},
): string => {
  const totals = sent.map(({ amount, token: { symbol } }) => ({ amount, symbol }));
  return payoutTitle({ reference, totals, recipients: counterparty?.count ?? 1 }, options);
};
