import type { EntryRecord } from "@/lib/books/ledger/service";

const KINDS: Readonly<Record<EntryRecord["kind"], string>> = {
  open: "opening",
  transfer: "payout",
  batch: "payout",
  fund: "funding",
  reverse: "reversal",
  withdraw: "withdrawal",
  settle: "withdrawal_return",
};

/** Whose account of the ledger it is: a customer's, or the reserve account of a currency. */
export type StatementOwner = "customer" | "reserve";

/**
 * The kind of an entry, in the words of the API. When a withdrawal is settled, its paid part goes
 * to the reserve account, and a part that was not paid returns to the customer's account.
 */
export const kindOf = (
  { kind }: Pick<EntryRecord, "kind">,
  owner: StatementOwner = "customer",
): string => (owner === "reserve" && kind === "settle" ? "withdrawal" : KINDS[kind]);
