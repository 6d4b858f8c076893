-- An instance of the version before 20261123150100_guard_sums, which runs beside a newer one during an upgrade, inserts batches without these
-- two columns. The sums of a balance find such a batch by its hold (lib/modules/holds/sums.ts).
ALTER TABLE "wallet_payout_batch" ALTER COLUMN "wallet_address" DROP NOT NULL, ALTER COLUMN "chain_id" DROP NOT NULL;

-- The few batches that name no wallet, for those sums. The table has one row for 400 payments, so the index is built at once.
CREATE INDEX "wallet_payout_batch_without_wallet" ON "wallet_payout_batch" ("block_number") WHERE "wallet_address" IS NULL;
