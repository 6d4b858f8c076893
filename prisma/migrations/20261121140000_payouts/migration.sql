-- CreateTable
CREATE TABLE "payout" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "sub_status" TEXT NOT NULL,
    "source_account_id" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "reference" TEXT,
    "total_base" DECIMAL(78,0) NOT NULL,
    "paid_base" DECIMAL(78,0) NOT NULL DEFAULT 0,
    "items_total" INTEGER NOT NULL,
    "items_completed" INTEGER NOT NULL DEFAULT 0,
    "items_failed" INTEGER NOT NULL DEFAULT 0,
    "digest" BYTEA NOT NULL,
    "idempotency_key" TEXT,
    "failure" JSONB,
    "retry_of" TEXT,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "payout_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payout_item" (
    "payout_id" TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    "recipient_account_id" TEXT NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "reference" TEXT,
    "status" TEXT,
    "transaction_id" TEXT,
    "failure" JSONB,

    CONSTRAINT "payout_item_pkey" PRIMARY KEY ("payout_id","index")
);

-- CreateIndex
CREATE INDEX "payout_project_id_id_idx" ON "payout"("project_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "payout_project_id_kind_idempotency_key_key" ON "payout"("project_id", "kind", "idempotency_key");


-- What Prisma cannot say.
ALTER TABLE "payout" ADD CONSTRAINT "payout_kind_check" CHECK ("kind" IN ('global_accounts'));
ALTER TABLE "payout" ADD CONSTRAINT "payout_mode_check" CHECK ("mode" IN ('atomic', 'independent'));
ALTER TABLE "payout" ADD CONSTRAINT "payout_status_check" CHECK (
  "status" IN ('pending', 'processing', 'completed', 'partially_completed', 'failed', 'expired', 'cancelled')
);
ALTER TABLE "payout" ADD CONSTRAINT "payout_amounts_check" CHECK (
  "total_base" BETWEEN 1 AND 2::numeric ^ 256 - 1 AND "paid_base" BETWEEN 0 AND "total_base"
);
ALTER TABLE "payout" ADD CONSTRAINT "payout_items_check" CHECK (
  "items_total" > 0 AND "items_completed" >= 0 AND "items_failed" >= 0 AND "items_completed" + "items_failed" <= "items_total"
);
ALTER TABLE "payout_item" ADD CONSTRAINT "payout_item_amount_check" CHECK ("amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1);
ALTER TABLE "payout_item" ADD CONSTRAINT "payout_item_status_check" CHECK ("status" IN ('completed', 'failed'));
-- Failed rows are tried again once; a retry that never ran does not count.
CREATE UNIQUE INDEX "payout_retry_of_key" ON "payout" ("retry_of") WHERE "status" NOT IN ('cancelled', 'expired');
CREATE INDEX "payout_waiting" ON "payout" ("expires_at") WHERE "status" = 'pending';
