/** Where each table lies on a Citus cluster. A table that is in neither list stays a local table of the coordinator. */

/** Tables that grow with money that moves: their rows lie with their project's, so a transaction of one project needs one node. */
export const DISTRIBUTED_TABLES = [
  "operation",
  "operation_leg",
  "operation_event",
  "quote",
  "payout",
  "payout_rows",
  "payout_item",
  "payout_row_key",
  "payout_new_keys",
  "wallet_payout",
  "wallet_payout_item",
  "wallet_payout_batch",
  "ledger_account",
  "ledger_transaction",
  "ledger_entry",
  "privacy_transfer",
  "privacy_step",
  "privacy_slot",
  "privacy_quote",
  "policy_evaluation",
  "screening_record",
  "annotation",
  "api_request",
  "event",
  "event_counter",
  "webhook_delivery",
  "webhook_attempt",
] as const;

export const DISTRIBUTION_COLUMN = "project_id";

export const isHot = (table: string): boolean => (DISTRIBUTED_TABLES as readonly string[]).includes(table);
