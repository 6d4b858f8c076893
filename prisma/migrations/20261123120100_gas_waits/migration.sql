-- What an operation or a payout waits for while a chain asks for a higher network fee than its cap: by chain id the price, the cap and
-- since when. NULL where it waits for no chain's fee.
ALTER TABLE "operation" ADD COLUMN "gas_waits" JSONB;
ALTER TABLE "wallet_payout" ADD COLUMN "gas_waits" JSONB;
