-- The refused rows of an independent payout, so that its open rows can be summed without reading them.
ALTER TABLE "payout" ADD COLUMN "failed_base" DECIMAL(78,0) NOT NULL DEFAULT 0;

-- What Prisma cannot say: open payouts by the account that they draw on, for its pending balance.
CREATE INDEX "payout_open_by_source" ON "payout" ("project_id", "source_account_id")
  WHERE "source_account_id" IS NOT NULL AND "status" IN ('pending', 'processing');
