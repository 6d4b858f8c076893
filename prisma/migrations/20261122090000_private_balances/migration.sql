-- Private balances: wallets, what was asked for, the notes that operations spend, and prices of private swaps.

CREATE TABLE "privacy_wallet" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "ciphertext" BYTEA NOT NULL,
    "wrapped_data_key" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "privacy_wallet_pkey" PRIMARY KEY ("project_id","id")
);
CREATE UNIQUE INDEX "privacy_wallet_one_default" ON "privacy_wallet" ("project_id") WHERE "is_default";
CREATE INDEX "privacy_wallet_kek_id_id_idx" ON "privacy_wallet"("kek_id", "id");

CREATE TABLE "privacy_slot" (
    "project_id" TEXT NOT NULL,
    "wallet_id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "pool" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "operation_id" TEXT NOT NULL,

    CONSTRAINT "privacy_slot_pkey" PRIMARY KEY ("project_id","wallet_id","chain_id","pool","number")
);

CREATE TABLE "privacy_transfer" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "wallet_id" TEXT NOT NULL,
    "to_wallet_id" TEXT,
    "to_address" TEXT,
    "chain_id" INTEGER NOT NULL,
    "token" JSONB NOT NULL,
    "token_out" JSONB NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "path" TEXT,
    "minimum_base" DECIMAL(78,0),
    "digest" BYTEA NOT NULL,
    "idempotency_key" TEXT,
    "request_digest" BYTEA,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "privacy_transfer_pkey" PRIMARY KEY ("project_id","id")
);
CREATE UNIQUE INDEX "privacy_transfer_project_id_operation_id_key" ON "privacy_transfer"("project_id", "operation_id");
CREATE UNIQUE INDEX "privacy_transfer_project_id_created_by_idempotency_key_key" ON "privacy_transfer"("project_id", "created_by", "idempotency_key");
ALTER TABLE "privacy_transfer" ADD CONSTRAINT "privacy_transfer_kind_check" CHECK ("kind" IN ('shield', 'unshield', 'private_transfer', 'private_swap'));
ALTER TABLE "privacy_transfer" ADD CONSTRAINT "privacy_transfer_amount_check" CHECK ("amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1);

CREATE TABLE "privacy_step" (
    "project_id" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "note_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "withdraw_base" DECIMAL(78,0) NOT NULL,
    "out_base" DECIMAL(78,0) NOT NULL,
    "slot_number" INTEGER,
    "attempt" INTEGER NOT NULL DEFAULT 0,
    "transaction" JSONB,
    "tx_hash" TEXT,
    "block_number" BIGINT,
    "received_base" DECIMAL(78,0),
    "failure" JSONB,
    "proving_since" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "privacy_step_pkey" PRIMARY KEY ("project_id","operation_id","position")
);
ALTER TABLE "privacy_step" ADD CONSTRAINT "privacy_step_state_check" CHECK ("state" IN ('queued', 'proved', 'submitted', 'completed', 'failed'));
ALTER TABLE "privacy_step" ADD CONSTRAINT "privacy_step_amount_check" CHECK ("withdraw_base" BETWEEN 1 AND 2::numeric ^ 256 - 1 AND "out_base" BETWEEN 1 AND 2::numeric ^ 256 - 1);
-- A note is spent by one open step at most.
CREATE UNIQUE INDEX "privacy_step_note_in_use" ON "privacy_step" ("project_id", "chain_id", "note_id") WHERE "state" IN ('queued', 'proved', 'submitted');

CREATE TABLE "privacy_quote" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "wallet_id" TEXT,
    "status" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "token" JSONB NOT NULL,
    "token_out" JSONB NOT NULL,
    "amount_base" DECIMAL(78,0) NOT NULL,
    "path" TEXT NOT NULL,
    "out_base" DECIMAL(78,0) NOT NULL,
    "minimum_base" DECIMAL(78,0) NOT NULL,
    "digest" BYTEA NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "approved_at" TIMESTAMPTZ(3),
    "code_id" TEXT,
    "operation_id" TEXT,

    CONSTRAINT "privacy_quote_pkey" PRIMARY KEY ("project_id","id")
);
ALTER TABLE "privacy_quote" ADD CONSTRAINT "privacy_quote_status_check" CHECK ("status" IN ('open', 'prepared', 'used'));
