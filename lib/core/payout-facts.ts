/** Kinds, statuses and limits of payouts, for contracts and for pages. */

export const PAYOUT_ROWS_MAX = 10_000;
export const PAYOUT_KINDS = ["global_accounts", "wallets"] as const;
export const PAYOUT_MODES = ["atomic", "independent"] as const;
export const PAYOUT_ITEM_STATUSES = ["pending", "completed", "failed"] as const;
/**
 * `unknown`: the row was sent to the chain, and it is unknown whether the chain accepted it, so it
 * is neither failed nor paid. `confirmed`: the row is mined, but has fewer than the configured
 * confirmations.
 */
export const WALLET_ROW_STATUSES = [
  "queued",
  "sent",
  "confirmed",
  "paid",
  "failed",
  "unknown",
  "cancelled",
] as const;
export const ROW_STATUSES = [
  ...PAYOUT_ITEM_STATUSES.filter((each) => each !== "failed"),
  ...WALLET_ROW_STATUSES,
] as const;
