-- What carrying a batch on over several attempts needs to remember.

ALTER TABLE "wallet_payout_batch" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "wallet_payout_batch" ADD COLUMN "former_gas_wei" DECIMAL(78,0) NOT NULL DEFAULT 0;
ALTER TABLE "wallet_payout_batch" ADD COLUMN "blocked_since" TIMESTAMPTZ(3);
