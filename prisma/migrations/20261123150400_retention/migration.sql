-- Rows that are swept by age are found by these.
CREATE INDEX "quote_never_executed" ON "quote" ("expires_at") WHERE "operation_id" IS NULL;
CREATE INDEX "otp_expires_at_idx" ON "otp" ("expires_at");
CREATE INDEX "balance_snapshot_hour_idx" ON "balance_snapshot" ("hour");
CREATE INDEX "chain_transaction_raw_kept" ON "chain_transaction" ("updated_at") WHERE "status" = 'final' AND "raw" <> '';
