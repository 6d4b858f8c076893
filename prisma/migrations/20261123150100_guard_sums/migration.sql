-- Every accepted operation sums the holds of its balances under their locks. These indexes find the few rows that count, however long the
-- history of the wallet is.

-- Holds that were released after a balance was read.
CREATE INDEX "balance_hold_released" ON "balance_hold" ("wallet_address", "chain_id", "token", "released_version")
  WHERE "released_at" IS NOT NULL;
-- Held ones are in "balance_hold_active". An index over all holds of a balance would only invite reading its whole history.
DROP INDEX "balance_hold_wallet_address_chain_id_token_idx";

-- Spendings in blocks after the final one.
CREATE INDEX "operation_leg_wallet_address_source_chain_id_source_block_idx"
  ON "operation_leg" ("wallet_address", "source_chain_id", "source_block");

ALTER TABLE "wallet_payout_batch" ADD COLUMN "wallet_address" TEXT, ADD COLUMN "chain_id" INTEGER;
UPDATE "wallet_payout_batch" b SET "wallet_address" = p."from_address", "chain_id" = p."chain_id"
  FROM "wallet_payout" p WHERE p."project_id" = b."project_id" AND p."payout_id" = b."payout_id";
ALTER TABLE "wallet_payout_batch" ALTER COLUMN "wallet_address" SET NOT NULL, ALTER COLUMN "chain_id" SET NOT NULL;
CREATE INDEX "wallet_payout_batch_wallet_address_chain_id_block_number_idx"
  ON "wallet_payout_batch" ("wallet_address", "chain_id", "block_number");
