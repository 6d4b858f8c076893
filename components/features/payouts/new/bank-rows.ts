import type { BankPayment } from "@/components/features/file-import/pain";
import { EMPTY_ROW, type DraftValues } from "./draft-row";

/** A payee of a bank file, identified by name and account, because names repeat. */
export interface Payee {
  readonly key: string;
  readonly name: string;
  readonly account: string;
  readonly payments: number;
}

export interface CurrencyGroup {
  readonly currency: string;
  readonly payments: number;
}

const keyOf = ({ creditor, account }: BankPayment): string =>
  JSON.stringify([creditor, account]);

/**
 * Whether the account field holds an address or a Causeway account id instead of a bank account.
 */
const isRecipient = (account: string): boolean =>
  /^(0x[0-9a-f]{40}|ga_[0-9a-z-]+)$/i.test(account);

/** The payees that the person must match, in the order of their first payment. */
export const payeesOf = (payments: readonly BankPayment[]): readonly Payee[] => {
  const payees = new Map<string, Payee>();
  for (const payment of payments) {
    if (isRecipient(payment.account)) continue;
    const key = keyOf(payment);
    const before = payees.get(key);
    payees.set(key, {
      key,
      name: payment.creditor,
      account: payment.account,
      payments: (before?.payments ?? 0) + 1,
    });
  }
  return [...payees.values()];
};

export const currenciesOf = (payments: readonly BankPayment[]): readonly CurrencyGroup[] => {
  const counts = new Map<string, number>();
  for (const { currency } of payments) counts.set(currency, (counts.get(currency) ?? 0) + 1);
  return [...counts].map(([currency, count]) => ({ currency, payments: count }));
};

interface FitInput {
  readonly symbol: string;
  readonly usdPegged: boolean;
}

/**
 * Whether one token is worth one unit of the currency. For dollars, the configuration decides. For
 * other currencies, the symbol must match, as in EURC or XSGD.
 */
export const fitsCurrency = ({ symbol, usdPegged }: FitInput, currency: string): boolean => {
  if (currency === "USD") return usdPegged;
  const upper = symbol.toUpperCase();
  return (
    currency.length === 3 && [upper, upper.slice(0, -1), upper.slice(1)].includes(currency)
  );
};

export interface BankChoices {
  /**
   * The symbol or address of the token for each currency of the file. Null for payouts between
   * accounts, whose rules check the currency.
   */
  readonly tokens: ReadonlyMap<string, string> | null;
  /** The chosen address or account id of each payee, by the payee's key. */
  readonly recipients: ReadonlyMap<string, string>;
}

/** The rows of a bank's payments. A row whose payee or currency is not matched has an error. */
export const bankRows = (
  payments: readonly BankPayment[],
  { tokens, recipients }: BankChoices,
): readonly DraftValues[] =>
  payments.map((payment) => {
    const { creditor, account, amount, currency, reference, refusal } = payment;
    const token = tokens?.get(currency) ?? "";
    const unmatched = tokens !== null && token === "";
    const payee = [creditor, account].filter((part) => part !== "").join(", ");
    const named = currency === "" ? "this row, which names no currency" : currency;
    return {
      ...EMPTY_ROW,
      recipient: isRecipient(account) ? account : (recipients.get(keyOf(payment)) ?? ""),
      amount,
      // A chosen token replaces the file's currency. Between accounts, the currency stays as the
      // unit, because the account's currency must match it.
      units: (tokens === null || unmatched) && currency !== "" ? [currency] : [],
      token,
      reference,
      note: tokens === null ? "" : payee,
      refusals: {
        ...(refusal === null ? {} : { amount: refusal }),
        ...(unmatched ? { token: `No token was chosen for ${named}.` } : {}),
      },
      checked: true,
    };
  });
