-- The newest known balance of a treasury at a final block, for the time in which its chain does not answer.
CREATE TABLE "reserve_reading" (
  "wallet_address" TEXT NOT NULL,
  "chain_id" INTEGER NOT NULL,
  "token" TEXT NOT NULL,
  "balance_base" DECIMAL(78, 0) NOT NULL CHECK ("balance_base" >= 0 AND "balance_base" <> 'NaN'),
  "block_number" BIGINT NOT NULL,
  "read_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "reserve_reading_pkey" PRIMARY KEY ("wallet_address", "chain_id", "token")
);
