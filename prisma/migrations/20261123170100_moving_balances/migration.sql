-- Open holds of a wallet, and those that were released lately, without reading all that it ever had.

CREATE INDEX "balance_hold_wallet_address_released_at_idx" ON "balance_hold"("wallet_address", "released_at");
