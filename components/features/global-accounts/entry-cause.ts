import type { Entry } from "./account";

/** `payout_reversal` → `Payout reversal`. */
export const kindText = (kind: string): string => {
  const words = kind.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

interface Cause {
  readonly text: string;
  readonly href: string;
}

type Caused = Pick<
  Entry,
  "kind" | "amount" | "counterpartyName" | "payoutId" | "transactionId" | "reverses"
>;

/** `Payout to Ada`, `Withdrawal`. */
const payoutText = ({ kind, amount, counterpartyName }: Caused): string => {
  if (kind === "payout" && counterpartyName !== null)
    return `Payout ${amount.startsWith("-") ? "to" : "from"} ${counterpartyName}`;
  return kind === "withdrawal_return" ? "Withdrawal" : kindText(kind);
};

/** A funding has no page, so the link searches for its row in the activity list. */
const rowInActivity = (transactionId: string): string => `/activity?q=${transactionId}`;

/**
 * The cause of an entry, with a link: a payout, a funding, or the funding that a reversal takes
 * back. Null when it has none.
 */
export const causeOf = (entry: Caused): Cause | null => {
  const { kind, payoutId, reverses, transactionId } = entry;
  if (payoutId !== null) return { text: payoutText(entry), href: `/payouts/${payoutId}` };
  if (kind === "funding")
    return { text: "Account funding", href: rowInActivity(transactionId) };
  return reverses === null
    ? null
    : { text: "Funding taken back", href: rowInActivity(reverses) };
};
