-- contract: three checks are replaced by wider ones, and every row that the version before writes passes them.
-- Withdrawals: an account bears a payout to wallets. What left the account and is neither paid nor returned is in transit.

ALTER TABLE "ledger_account" DROP CONSTRAINT "ledger_account_kind_check";
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_kind_check" CHECK (
  ("kind" IN ('customer', 'withdrawal_transit') AND "minimum" IS NOT NULL)
  OR ("kind" IN ('treasury_reserve', 'external') AND "minimum" IS NULL)
) NOT VALID;
ALTER TABLE "ledger_account" VALIDATE CONSTRAINT "ledger_account_kind_check";

ALTER TABLE "ledger_transaction" DROP CONSTRAINT "ledger_transaction_kind_check";
ALTER TABLE "ledger_transaction" ADD CONSTRAINT "ledger_transaction_kind_check" CHECK (
  "kind" IN ('open', 'transfer', 'batch', 'fund', 'hold', 'post', 'void', 'expire', 'reverse', 'withdraw', 'settle')
) NOT VALID;
ALTER TABLE "ledger_transaction" VALIDATE CONSTRAINT "ledger_transaction_kind_check";

ALTER TABLE "payout" DROP CONSTRAINT "payout_amounts_check";
ALTER TABLE "payout" ADD CONSTRAINT "payout_amounts_check" CHECK (
  CASE WHEN "source_account_id" IS NULL THEN "kind" = 'wallets' AND "total_base" = 0 AND "paid_base" = 0
    AND "currency" IS NULL AND "mode" = 'independent'
  ELSE "total_base" BETWEEN 1 AND 2::numeric ^ 256 - 1 AND "paid_base" BETWEEN 0 AND "total_base" AND "currency" IS NOT NULL
    AND ("kind" <> 'wallets' OR ("mode" = 'independent' AND "failed_base" BETWEEN 0 AND "total_base" - "paid_base")) END
) NOT VALID;
ALTER TABLE "payout" VALIDATE CONSTRAINT "payout_amounts_check";
