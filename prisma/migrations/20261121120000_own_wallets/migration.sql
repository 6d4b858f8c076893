-- AlterTable
ALTER TABLE "siwe_nonce" ADD COLUMN     "project_id" TEXT;

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "daily_cap_usd" DECIMAL(38,6),
ADD COLUMN     "otp_policy" TEXT NOT NULL DEFAULT 'required',
ADD COLUMN     "recipients" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "wallet" ADD COLUMN     "contract_chain_id" INTEGER,
ADD COLUMN     "unlinked_at" TIMESTAMPTZ(3),
ADD COLUMN     "user_id" TEXT;

-- AlterTable
ALTER TABLE "quote" ADD COLUMN     "code_sent_at" TIMESTAMPTZ(3),
ADD COLUMN     "created_by" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "idempotency_key" TEXT,
ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'swap',
ADD COLUMN     "request_digest" BYTEA,
ADD COLUMN     "retry_of" TEXT,
ADD COLUMN     "transfer_id" TEXT;

-- AlterTable
ALTER TABLE "operation" ADD COLUMN     "retried_by" TEXT;

-- AlterTable
ALTER TABLE "operation_leg" ADD COLUMN     "executor_wallet_id" TEXT,
ADD COLUMN     "permit" JSONB,
ADD COLUMN     "wallet_transactions" JSONB;

-- CreateTable
CREATE TABLE "policy_spend" (
    "api_key_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "spent_usd" DECIMAL(38,6) NOT NULL,

    CONSTRAINT "policy_spend_pkey" PRIMARY KEY ("api_key_id","day")
);

-- CreateTable
CREATE TABLE "wallet_link" (
    "address" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wallet_link_pkey" PRIMARY KEY ("address")
);

-- CreateTable
CREATE TABLE "contact" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "contact_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "balance_snapshot" (
    "project_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "taken_at" TIMESTAMPTZ(3) NOT NULL,
    "total_usd" DECIMAL(38,6),
    "assets" JSONB NOT NULL,

    CONSTRAINT "balance_snapshot_pkey" PRIMARY KEY ("project_id","hour")
);

-- CreateIndex
CREATE INDEX "wallet_address_idx" ON "wallet"("address");

-- CreateTable
CREATE TABLE "wallet_transaction" (
    "chain_id" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "leg_id" TEXT NOT NULL,
    "action_id" TEXT NOT NULL,

    CONSTRAINT "wallet_transaction_pkey" PRIMARY KEY ("chain_id","hash")
);

-- CreateIndex
CREATE INDEX "wallet_transaction_leg_id_idx" ON "wallet_transaction"("leg_id");

-- CreateIndex
CREATE INDEX "wallet_link_user_id_idx" ON "wallet_link"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "contact_project_id_address_key" ON "contact"("project_id", "address");

-- CreateIndex
CREATE INDEX "siwe_nonce_user_id_address_idx" ON "siwe_nonce"("user_id", "address");

-- CreateIndex
CREATE UNIQUE INDEX "quote_transfer_id_key" ON "quote"("transfer_id");

-- CreateIndex
CREATE INDEX "quote_project_id_transfer_id_idx" ON "quote"("project_id", "transfer_id");

-- CreateIndex
CREATE UNIQUE INDEX "quote_project_id_kind_idempotency_key_key" ON "quote"("project_id", "kind", "idempotency_key");

-- CreateIndex
CREATE INDEX "otp_user_id_created_at_idx" ON "otp"("user_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "operation_retried_by_key" ON "operation"("retried_by");

-- AlterTable
ALTER TABLE "balance_hold" ADD COLUMN     "released_version" INTEGER;

-- CreateTable
CREATE TABLE "bundle_operation" (
    "chain_id" INTEGER NOT NULL,
    "user_op_hash" TEXT NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "bundle_operation_pkey" PRIMARY KEY ("chain_id","user_op_hash")
);

-- CreateIndex
CREATE INDEX "bundle_operation_transaction_id_idx" ON "bundle_operation"("transaction_id");

-- AddForeignKey
ALTER TABLE "bundle_operation" ADD CONSTRAINT "bundle_operation_transaction_id_fkey" FOREIGN KEY ("transaction_id") REFERENCES "chain_transaction"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Until now a transaction carried one user operation, and its purpose named it: `userop:<hash>`, then `userop:<hash>:<attempt>`.
INSERT INTO "bundle_operation" ("chain_id", "user_op_hash", "transaction_id", "attempts")
SELECT DISTINCT ON ("chain_id", split_part("purpose", ':', 2))
  "chain_id", split_part("purpose", ':', 2), "id", CASE split_part("purpose", ':', 3) WHEN '' THEN 1 ELSE split_part("purpose", ':', 3)::int END AS "attempts"
FROM "chain_transaction" WHERE "purpose" LIKE 'userop:%'
ORDER BY "chain_id", split_part("purpose", ':', 2), "attempts" DESC;
-- What was released before this column was there is older than any balance read from now on.
UPDATE "balance_hold" SET "released_version" = 0 WHERE "released_at" IS NOT NULL;

-- The activity search: one indexed list of terms in the place of the addresses alone.
ALTER TABLE "operation" RENAME COLUMN "addresses" TO "search_terms";
ALTER TABLE "operation" ADD COLUMN "retry_of" TEXT,
ADD COLUMN "accepted_at" TIMESTAMPTZ(3);
UPDATE "operation" SET "accepted_at" = "created_at";
CREATE INDEX "operation_project_id_created_at_idx" ON "operation"("project_id", "created_at");
UPDATE "operation" o SET "search_terms" = ARRAY(
  WITH token AS (
    SELECT o."request" -> 'destination' -> 'token' AS it
    UNION SELECT source -> 'token' FROM jsonb_array_elements(o."request" -> 'sources') AS source
  )
  SELECT lower(term) FROM unnest(o."search_terms") AS term
  UNION SELECT lower(l."wallet_id") FROM "operation_leg" l WHERE l."operation_id" = o."id"
  UNION SELECT lower('chain:' || (it ->> 'chainId')) FROM token
  UNION SELECT lower('token:' || (it ->> 'symbol')) FROM token
);
CREATE INDEX "operation_search_terms_idx" ON "operation" USING GIN ("search_terms");
CREATE INDEX "operation_leg_source_tx_hash_idx" ON "operation_leg"("source_tx_hash");
CREATE INDEX "operation_leg_dest_tx_hash_idx" ON "operation_leg"("dest_tx_hash");
CREATE INDEX "operation_leg_refund_tx_hash_idx" ON "operation_leg"("refund_tx_hash");

-- What Prisma cannot say.
ALTER TABLE "quote" DROP CONSTRAINT "quote_status_check";
ALTER TABLE "quote" ADD CONSTRAINT "quote_status_check" CHECK ("status" IN ('open', 'prepared', 'used', 'cancelled'));
ALTER TABLE "quote" ADD CONSTRAINT "quote_kind_check" CHECK ("kind" IN ('swap', 'transfer', 'swap_and_transfer'));
ALTER TABLE "quote" ADD CONSTRAINT "quote_transfer_check" CHECK (("kind" = 'transfer') = ("transfer_id" IS NOT NULL));
ALTER TABLE "quote" ADD CONSTRAINT "quote_request_digest_check" CHECK (("idempotency_key" IS NULL) = ("request_digest" IS NULL));
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_otp_policy_check" CHECK (
  "otp_policy" = 'required' OR ("otp_policy" = 'exempt' AND "daily_cap_usd" IS NOT NULL)
);
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_daily_cap_check" CHECK ("daily_cap_usd" IS NULL OR ("daily_cap_usd" >= 0 AND "daily_cap_usd" <> 'NaN'));
ALTER TABLE "policy_spend" ADD CONSTRAINT "policy_spend_check" CHECK ("spent_usd" >= 0 AND "spent_usd" <> 'NaN');
CREATE INDEX "operation_awaiting" ON "operation" ("expires_at") WHERE "status" = 'pending' AND "expires_at" IS NOT NULL;
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_via_check" CHECK ("via" IN ('user_operation', 'transaction', 'permit'));
-- A wallet's own transaction carries one leg at most.
CREATE UNIQUE INDEX "operation_leg_wallet_transaction" ON "operation_leg" ("source_chain_id", "source_tx_hash") WHERE "via" = 'transaction';
ALTER TABLE "bundle_operation" ADD CONSTRAINT "bundle_operation_attempts_check" CHECK ("attempts" > 0);
