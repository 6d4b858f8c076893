/** The states of a row of a payout between accounts. */
import { isFinal } from "@/lib/core/status";
import type { AccountsPayout } from "../payout";

const neverRan = ({ status }: AccountsPayout): boolean => status === "cancelled" || status === "expired";

export type AccountRowStatus = "pending" | "completed" | "failed";

/** False when no row of the payout can have the state. All rows of an atomic payout, and of one that never ran, share the payout's state. */
export const mayHave = (payout: AccountsPayout, status: AccountRowStatus): boolean =>
  (payout.mode === "independent" && !neverRan(payout)) || itemStatusOf(payout, { status: null }) === status;

/** The state column to look for. Null: the row has no state of its own, so the payout's state counts. Undefined: rows of every state. */
export const storedStatus = (
  payout: AccountsPayout,
  status: AccountRowStatus | undefined,
): string | null | undefined => {
  if (status === undefined) return undefined;
  const hasNone = status === "pending" || payout.mode === "atomic" || neverRan(payout);
  return hasNone ? null : status;
};

/** A row's state: its own, or that of its payout. */
export const itemStatusOf = (
  payout: Pick<AccountsPayout, "status" | "mode">,
  item: { readonly status: string | null },
): AccountRowStatus => {
  if (item.status === "completed" || item.status === "failed") return item.status;
  // A state of a later version, which says neither.
  if (item.status !== null) return "pending";
  if (payout.status === "completed") return "completed";
  return isFinal(payout.status) ? "failed" : "pending";
};
