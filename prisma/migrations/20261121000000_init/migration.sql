-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "app_user" (
    "id" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "email" TEXT,
    "email_verified_at" TIMESTAMPTZ(3),
    "contract_chain_id" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "project" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "project_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "membership" (
    "project_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "membership_pkey" PRIMARY KEY ("project_id","user_id")
);

-- CreateTable
CREATE TABLE "siwe_nonce" (
    "nonce" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "user_id" TEXT,
    "address" TEXT,
    "message" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "siwe_nonce_pkey" PRIMARY KEY ("nonce")
);

-- CreateTable
CREATE TABLE "session" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "refresh_hash" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "rotated_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "user_agent" TEXT,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "token_key" (
    "kid" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "private_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "token_key_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "email_code" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "email_code_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "lookup" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "wallet" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "owner_address" TEXT,
    "key_id" TEXT,
    "label" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "wallet_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "managed_key" (
    "id" TEXT NOT NULL,
    "project_id" TEXT,
    "address" TEXT NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "wrapped_data_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "managed_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "quote" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "route" JSONB NOT NULL,
    "response" JSONB NOT NULL,
    "minimum_base" DECIMAL(78,0) NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "approved_at" TIMESTAMPTZ(3),
    "prepared_until" TIMESTAMPTZ(3),
    "prepared" JSONB,
    "operation_id" TEXT,

    CONSTRAINT "quote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "otp" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "subject_id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "channel" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "code_hash" BYTEA NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "resend_after" TIMESTAMPTZ(3) NOT NULL,
    "closed_at" TIMESTAMPTZ(3),
    "closed_as" TEXT,

    CONSTRAINT "otp_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operation" (
    "id" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "sub_status" TEXT NOT NULL,
    "request" JSONB NOT NULL,
    "quoted" JSONB NOT NULL,
    "minimum_base" DECIMAL(78,0) NOT NULL,
    "failure" JSONB,
    "version" INTEGER NOT NULL DEFAULT 0,
    "created_by" TEXT NOT NULL,
    "addresses" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "operation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operation_leg" (
    "id" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "wallet_id" TEXT NOT NULL,
    "wallet_address" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "source_chain_id" INTEGER NOT NULL,
    "dest_chain_id" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "route_leg" JSONB NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "spent_base" DECIMAL(78,0),
    "received_base" DECIMAL(78,0),
    "fill_deadline" TIMESTAMPTZ(3),
    "via" TEXT NOT NULL,
    "user_op_hash" TEXT,
    "user_operation" JSONB,
    "gas" JSONB NOT NULL,
    "valid_until" TIMESTAMPTZ(3),
    "from_block" BIGINT NOT NULL,
    "source_tx_hash" TEXT,
    "source_block" BIGINT,
    "source_confirmations" INTEGER NOT NULL DEFAULT 0,
    "deposit" JSONB,
    "dest_tx_hash" TEXT,
    "dest_block" BIGINT,
    "dest_confirmations" INTEGER NOT NULL DEFAULT 0,
    "refund_tx_hash" TEXT,
    "refund_block" BIGINT,
    "refunded_base" DECIMAL(78,0),
    "refund_token" JSONB,
    "failure" JSONB,
    "version" INTEGER NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operation_leg_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operation_event" (
    "operation_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operation_event_pkey" PRIMARY KEY ("operation_id","seq")
);

-- CreateTable
CREATE TABLE "balance_hold" (
    "id" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "wallet_address" TEXT NOT NULL,
    "project_id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "token" TEXT NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "released_at" TIMESTAMPTZ(3),

    CONSTRAINT "balance_hold_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "balance_guard" (
    "wallet_address" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "token" TEXT NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "balance_guard_pkey" PRIMARY KEY ("wallet_address","chain_id","token")
);

-- CreateTable
CREATE TABLE "account_deployment" (
    "chain_id" INTEGER NOT NULL,
    "address" TEXT NOT NULL,
    "leg_id" TEXT NOT NULL,
    "claimed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_deployment_pkey" PRIMARY KEY ("chain_id","address")
);

-- CreateTable
CREATE TABLE "signer_nonce" (
    "address" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "next" BIGINT NOT NULL,

    CONSTRAINT "signer_nonce_pkey" PRIMARY KEY ("address","chain_id")
);

-- CreateTable
CREATE TABLE "chain_transaction" (
    "id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "from_address" TEXT NOT NULL,
    "nonce" BIGINT NOT NULL,
    "purpose" TEXT NOT NULL,
    "to" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "value" DECIMAL(78,0) NOT NULL,
    "gas" BIGINT NOT NULL,
    "max_fee_per_gas" DECIMAL(78,0) NOT NULL,
    "max_priority_fee_per_gas" DECIMAL(78,0) NOT NULL,
    "raw" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "replaced_hashes" TEXT[],
    "status" TEXT NOT NULL,
    "mined_hash" TEXT,
    "block_number" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "broadcast_at" TIMESTAMPTZ(3),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "chain_transaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "job" (
    "id" TEXT NOT NULL,
    "queue" TEXT NOT NULL,
    "run_at" TIMESTAMPTZ(3) NOT NULL,
    "locked_by" TEXT,
    "locked_until" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,

    CONSTRAINT "job_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "status" TEXT NOT NULL,
    "response" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "locked_until" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("scope","key")
);

-- CreateTable
CREATE TABLE "rate_window" (
    "bucket" TEXT NOT NULL,
    "window_start" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "rate_window_pkey" PRIMARY KEY ("bucket","window_start")
);

-- CreateTable
CREATE TABLE "dev_mail" (
    "id" TEXT NOT NULL,
    "to" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "code" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "dev_mail_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "audit_event" (
    "id" TEXT NOT NULL,
    "project_id" TEXT,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_user_address_key" ON "app_user"("address");

-- CreateIndex
CREATE INDEX "membership_user_id_created_at_idx" ON "membership"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "siwe_nonce_expires_at_idx" ON "siwe_nonce"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "session_refresh_hash_key" ON "session"("refresh_hash");

-- CreateIndex
CREATE INDEX "session_user_id_created_at_idx" ON "session"("user_id", "created_at");

-- CreateIndex
CREATE INDEX "email_code_user_id_created_at_idx" ON "email_code"("user_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_lookup_key" ON "api_key"("lookup");

-- CreateIndex
CREATE INDEX "api_key_project_id_created_at_idx" ON "api_key"("project_id", "created_at");

-- CreateIndex
CREATE INDEX "wallet_project_id_created_at_idx" ON "wallet"("project_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "wallet_project_id_address_key" ON "wallet"("project_id", "address");

-- CreateIndex
CREATE UNIQUE INDEX "managed_key_address_key" ON "managed_key"("address");

-- CreateIndex
CREATE UNIQUE INDEX "quote_operation_id_key" ON "quote"("operation_id");

-- CreateIndex
CREATE INDEX "quote_project_id_created_at_idx" ON "quote"("project_id", "created_at");

-- CreateIndex
CREATE INDEX "otp_subject_id_created_at_idx" ON "otp"("subject_id", "created_at");

-- CreateIndex
CREATE INDEX "operation_project_id_id_idx" ON "operation"("project_id", "id");

-- CreateIndex
CREATE INDEX "operation_project_id_status_id_idx" ON "operation"("project_id", "status", "id");

-- CreateIndex
CREATE UNIQUE INDEX "operation_leg_operation_id_position_key" ON "operation_leg"("operation_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "operation_leg_user_op_hash_key" ON "operation_leg"("user_op_hash");

-- CreateIndex
CREATE INDEX "balance_hold_wallet_address_chain_id_token_idx" ON "balance_hold"("wallet_address", "chain_id", "token");

-- CreateIndex
CREATE UNIQUE INDEX "chain_transaction_hash_key" ON "chain_transaction"("hash");

-- CreateIndex
CREATE INDEX "chain_transaction_status_chain_id_idx" ON "chain_transaction"("status", "chain_id");

-- CreateIndex
CREATE UNIQUE INDEX "chain_transaction_from_address_chain_id_nonce_key" ON "chain_transaction"("from_address", "chain_id", "nonce");

-- CreateIndex
CREATE UNIQUE INDEX "chain_transaction_chain_id_purpose_key" ON "chain_transaction"("chain_id", "purpose");

-- CreateIndex
CREATE INDEX "job_run_at_idx" ON "job"("run_at");

-- CreateIndex
CREATE INDEX "idempotency_key_expires_at_idx" ON "idempotency_key"("expires_at");

-- CreateIndex
CREATE INDEX "rate_window_window_start_idx" ON "rate_window"("window_start");

-- CreateIndex
CREATE INDEX "dev_mail_to_created_at_idx" ON "dev_mail"("to", "created_at");

-- CreateIndex
CREATE INDEX "audit_event_project_id_id_idx" ON "audit_event"("project_id", "id");

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "membership" ADD CONSTRAINT "membership_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "email_code" ADD CONSTRAINT "email_code_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "wallet" ADD CONSTRAINT "wallet_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "quote" ADD CONSTRAINT "quote_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "operation" ADD CONSTRAINT "operation_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_operation_id_fkey" FOREIGN KEY ("operation_id") REFERENCES "operation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "operation_event" ADD CONSTRAINT "operation_event_operation_id_fkey" FOREIGN KEY ("operation_id") REFERENCES "operation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "balance_hold" ADD CONSTRAINT "balance_hold_operation_id_fkey" FOREIGN KEY ("operation_id") REFERENCES "operation"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What Prisma cannot say.

-- NUMERIC takes NaN, and NaN is larger than every number; BETWEEN refuses it.
ALTER TABLE "quote" ADD CONSTRAINT "quote_minimum_base_check" CHECK ("minimum_base" BETWEEN 0 AND 2::numeric ^ 256 - 1);
ALTER TABLE "operation" ADD CONSTRAINT "operation_minimum_base_check" CHECK ("minimum_base" BETWEEN 0 AND 2::numeric ^ 256 - 1);
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_amounts_check" CHECK (
  "amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1
  AND ("spent_base" IS NULL OR "spent_base" BETWEEN 0 AND 2::numeric ^ 256 - 1)
  AND ("received_base" IS NULL OR "received_base" BETWEEN 0 AND 2::numeric ^ 256 - 1)
  AND ("refunded_base" IS NULL OR "refunded_base" BETWEEN 0 AND 2::numeric ^ 256 - 1)
);
ALTER TABLE "balance_hold" ADD CONSTRAINT "balance_hold_amount_check" CHECK ("amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1);
ALTER TABLE "chain_transaction" ADD CONSTRAINT "chain_transaction_value_check" CHECK ("value" BETWEEN 0 AND 2::numeric ^ 256 - 1);

-- A status outside the machine is a bug that must not be stored.
ALTER TABLE "operation" ADD CONSTRAINT "operation_status_check" CHECK (
  "status" IN ('pending', 'processing', 'completed', 'partially_completed', 'failed', 'refunded', 'expired', 'cancelled')
);
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_state_check" CHECK (
  "state" IN ('queued', 'submitted', 'source_seen', 'bridging', 'filled_seen', 'refunding', 'refund_seen', 'completed', 'failed', 'refunded')
);
ALTER TABLE "quote" ADD CONSTRAINT "quote_status_check" CHECK ("status" IN ('open', 'prepared', 'used'));

-- Holds that still count are looked up for every execute.
CREATE INDEX "balance_hold_active" ON "balance_hold" ("wallet_address", "chain_id", "token") WHERE "released_at" IS NULL;

-- One code at a time may be guessed for a subject.
CREATE UNIQUE INDEX "otp_one_open" ON "otp" ("subject_id") WHERE "closed_at" IS NULL;
CREATE UNIQUE INDEX "email_code_one_open" ON "email_code" ("user_id") WHERE "closed_at" IS NULL;

-- What happened stays as it was told.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER "operation_event_append_only" BEFORE UPDATE OR DELETE ON "operation_event" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE OR DELETE ON "audit_event" FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Instances listen instead of asking again and again.
CREATE FUNCTION notify_operation_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('operation_event', NEW.operation_id);
  RETURN NULL;
END $$;
CREATE TRIGGER "operation_event_notify" AFTER INSERT ON "operation_event" FOR EACH ROW EXECUTE FUNCTION notify_operation_event();

CREATE FUNCTION notify_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('job', NEW.queue);
  RETURN NULL;
END $$;
CREATE TRIGGER "job_notify" AFTER INSERT ON "job" FOR EACH ROW EXECUTE FUNCTION notify_job();
