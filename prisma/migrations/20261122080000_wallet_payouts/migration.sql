-- Payouts to wallets: rows, the batches that carry them, schedules, and which payments were asked for lately.

ALTER TABLE "payout" ALTER COLUMN "source_account_id" DROP NOT NULL;
ALTER TABLE "payout" ALTER COLUMN "currency" DROP NOT NULL;
ALTER TABLE "payout" DROP CONSTRAINT "payout_kind_check";
ALTER TABLE "payout" ADD CONSTRAINT "payout_kind_check" CHECK ("kind" IN ('global_accounts', 'wallets'));
ALTER TABLE "payout" DROP CONSTRAINT "payout_amounts_check";
ALTER TABLE "payout" ADD CONSTRAINT "payout_amounts_check" CHECK (
  CASE WHEN "kind" = 'wallets' THEN "total_base" = 0 AND "paid_base" = 0
    AND "source_account_id" IS NULL AND "currency" IS NULL AND "mode" = 'independent'
  ELSE "total_base" BETWEEN 1 AND 2::numeric ^ 256 - 1 AND "paid_base" BETWEEN 0 AND "total_base"
    AND "source_account_id" IS NOT NULL AND "currency" IS NOT NULL END
);

-- A payout holds money as an operation does.
ALTER TABLE "balance_hold" DROP CONSTRAINT "balance_hold_operation_id_fkey";

CREATE TABLE "wallet_payout" (
    "project_id" TEXT NOT NULL,
    "payout_id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "from_wallet_id" TEXT NOT NULL,
    "from_address" TEXT NOT NULL,
    "totals" JSONB NOT NULL,
    "warnings" JSONB NOT NULL,
    "fee_wei" DECIMAL(78,0) NOT NULL,
    "fee_paid_by" TEXT NOT NULL,
    "fund_from" JSONB,
    "funded_by" TEXT,
    "schedule_id" TEXT,

    CONSTRAINT "wallet_payout_pkey" PRIMARY KEY ("project_id","payout_id")
);

CREATE TABLE "wallet_payout_item" (
    "project_id" TEXT NOT NULL,
    "payout_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "recipient" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "reference" TEXT,
    "note" TEXT,
    "batch" INTEGER NOT NULL,
    "status" TEXT,
    "failure" JSONB,

    CONSTRAINT "wallet_payout_item_pkey" PRIMARY KEY ("project_id","payout_id","index")
);
ALTER TABLE "wallet_payout_item" ADD CONSTRAINT "wallet_payout_item_amount_check" CHECK ("amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1);
ALTER TABLE "wallet_payout_item" ADD CONSTRAINT "wallet_payout_item_status_check" CHECK ("status" IN ('failed', 'cancelled'));

CREATE TABLE "wallet_payout_batch" (
    "project_id" TEXT NOT NULL,
    "payout_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "token" TEXT NOT NULL,
    "rows" INTEGER NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "state" TEXT NOT NULL,
    "in_doubt" BOOLEAN NOT NULL DEFAULT false,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "user_operation" JSONB,
    "user_op_hash" TEXT,
    "valid_until" TIMESTAMPTZ(3),
    "from_block" DECIMAL(78,0),
    "tx_hash" TEXT,
    "block_number" DECIMAL(78,0),
    "confirmations" INTEGER NOT NULL DEFAULT 0,
    "gas_cost_wei" DECIMAL(78,0) NOT NULL DEFAULT 0,
    "sponsor_reserved_wei" DECIMAL(78,0),
    "sponsor_day" DATE,
    "failure" JSONB,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wallet_payout_batch_pkey" PRIMARY KEY ("project_id","payout_id","number")
);
ALTER TABLE "wallet_payout_batch" ADD CONSTRAINT "wallet_payout_batch_state_check" CHECK (
  "state" IN ('queued', 'signed', 'sent', 'mined', 'paid', 'failed', 'cancelled')
);
ALTER TABLE "wallet_payout_batch" ADD CONSTRAINT "wallet_payout_batch_rows_check" CHECK ("rows" >= 0 AND "amount_base" >= 0);

CREATE TABLE "payout_row_key" (
    "project_id" TEXT NOT NULL,
    "row_key" BYTEA NOT NULL,
    "payout_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payout_row_key_pkey" PRIMARY KEY ("project_id","row_key","payout_id","index")
);
CREATE INDEX "payout_row_key_created_at_idx" ON "payout_row_key"("created_at");

CREATE TABLE "payout_schedule" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "wallet_id" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "totals" JSONB NOT NULL,
    "rows" INTEGER NOT NULL,
    "reference" TEXT,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "period" TEXT,
    "time_zone" TEXT NOT NULL,
    "ends_at" TIMESTAMPTZ(3),
    "next_run_at" TIMESTAMPTZ(3),
    "digest" BYTEA NOT NULL,
    "created_by" TEXT NOT NULL,
    "approved_by" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "payout_schedule_pkey" PRIMARY KEY ("project_id","id")
);
CREATE INDEX "payout_schedule_status_next_run_at_idx" ON "payout_schedule"("status", "next_run_at");
ALTER TABLE "payout_schedule" ADD CONSTRAINT "payout_schedule_status_check" CHECK ("status" IN ('awaiting_approval', 'active', 'ended', 'cancelled'));
ALTER TABLE "payout_schedule" ADD CONSTRAINT "payout_schedule_period_check" CHECK ("period" IN ('day', 'week', 'month'));

CREATE TABLE "payout_schedule_run" (
    "project_id" TEXT NOT NULL,
    "schedule_id" TEXT NOT NULL,
    "scheduled_at" TIMESTAMPTZ(3) NOT NULL,
    "status" TEXT NOT NULL,
    "payout_id" TEXT,
    "failure" JSONB,

    CONSTRAINT "payout_schedule_run_pkey" PRIMARY KEY ("project_id","schedule_id","scheduled_at")
);
ALTER TABLE "payout_schedule_run" ADD CONSTRAINT "payout_schedule_run_status_check" CHECK ("status" IN ('started', 'missed', 'refused'));
