-- Webhooks: callbacks of providers, the project's events, and their deliveries to endpoints.

-- Callbacks -------------------------------------------------------------------------------------

-- One row for each event of a provider, however often it is delivered.
CREATE TABLE "callback" (
    "source" TEXT NOT NULL,
    "event_key" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "type" TEXT,
    "status_word" TEXT,
    "verified_by" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "body" BYTEA NOT NULL,
    "count" INTEGER NOT NULL DEFAULT 1,
    "received_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "callback_pkey" PRIMARY KEY ("source","event_key")
);
ALTER TABLE "callback" ADD CONSTRAINT "callback_source_check" CHECK ("source" IN ('routing', 'bundler'));
ALTER TABLE "callback" ADD CONSTRAINT "callback_outcome_check" CHECK ("outcome" IN ('woke', 'unmatched', 'unknown'));
CREATE INDEX "callback_received_at_idx" ON "callback" USING brin ("received_at");

-- A bundler's callback names the user operation alone, and neither the project nor the payout.
CREATE INDEX "wallet_payout_batch_user_op_hash_idx" ON "wallet_payout_batch"("user_op_hash");

-- Events ----------------------------------------------------------------------------------------

-- Events as they are written, in the transaction of the state that they report. The sequencer takes them out.
CREATE TABLE "event_outbox" (
    "project_id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "payload" JSON NOT NULL,
    "private" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_outbox_pkey" PRIMARY KEY ("project_id","position")
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE "event" (
    "project_id" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "object_id" TEXT NOT NULL,
    "object_sequence" BIGINT NOT NULL,
    "payload" JSON NOT NULL,
    "private" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("project_id","sequence")
);
CREATE UNIQUE INDEX "event_project_id_object_id_object_sequence_key" ON "event"("project_id", "object_id", "object_sequence");

CREATE TABLE "event_counter" (
    "project_id" TEXT NOT NULL,
    "last_sequence" BIGINT NOT NULL,

    CONSTRAINT "event_counter_pkey" PRIMARY KEY ("project_id")
) WITH (fillfactor = 50);

-- Deliveries ------------------------------------------------------------------------------------

CREATE TABLE "webhook_endpoint" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[] NOT NULL,
    "payload" TEXT NOT NULL,
    "include_private" BOOLEAN NOT NULL,
    "description" TEXT,
    "status" TEXT NOT NULL,
    "disabled_reason" TEXT,
    "concurrency" INTEGER NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("project_id","id")
);
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_payload_check" CHECK ("payload" IN ('full', 'thin'));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_status_check" CHECK ("status" IN ('active', 'paused', 'disabled'));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_concurrency_check" CHECK ("concurrency" BETWEEN 1 AND 50);

-- Signing secrets, encrypted under a key-encryption key. After a rotation two of them sign for a while.
CREATE TABLE "webhook_secret" (
    "project_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "encrypted" BYTEA NOT NULL,
    "kek_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secret_pkey" PRIMARY KEY ("project_id","endpoint_id","id"),
    CONSTRAINT "webhook_secret_project_id_endpoint_id_fkey" FOREIGN KEY ("project_id","endpoint_id")
      REFERENCES "webhook_endpoint"("project_id","id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "webhook_secret_kek_id_id_idx" ON "webhook_secret"("kek_id", "id");

-- What changes with every delivery, apart from what its owner sets: which worker has the endpoint, and when it is due.
CREATE TABLE "webhook_lane" (
    "project_id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "last_sequence" BIGINT NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),
    "locked_by" TEXT,
    "locked_until" TIMESTAMPTZ(3),
    "failing_since" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_lane_pkey" PRIMARY KEY ("project_id","endpoint_id"),
    CONSTRAINT "webhook_lane_project_id_endpoint_id_fkey" FOREIGN KEY ("project_id","endpoint_id")
      REFERENCES "webhook_endpoint"("project_id","id") ON DELETE CASCADE ON UPDATE CASCADE
) WITH (fillfactor = 50);

CREATE TABLE "webhook_delivery" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "event_type" TEXT NOT NULL,
    "sequence" BIGINT NOT NULL,
    "previous_sequence" BIGINT,
    "object_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "first_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),
    "last_status" INTEGER,
    "last_error" TEXT,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("project_id","id")
) WITH (autovacuum_vacuum_scale_factor = 0.02, fillfactor = 80);
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_kind_check" CHECK ("kind" IN ('event', 'test', 'replay', 'resend'));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_status_check" CHECK ("status" IN ('pending', 'delivered', 'failed'));
CREATE INDEX "webhook_delivery_project_id_endpoint_id_id_idx" ON "webhook_delivery"("project_id", "endpoint_id", "id");
CREATE INDEX "webhook_delivery_pending_idx" ON "webhook_delivery"("project_id", "endpoint_id", "due_at", "sequence") WHERE "status" = 'pending';
CREATE INDEX "webhook_delivery_failing_idx" ON "webhook_delivery"("project_id", "endpoint_id", "object_id", "first_attempt_at")
  WHERE "status" = 'pending' AND "first_attempt_at" IS NOT NULL;
CREATE INDEX "webhook_delivery_created_at_idx" ON "webhook_delivery" USING brin ("created_at");

CREATE TABLE "webhook_attempt" (
    "project_id" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "url" TEXT NOT NULL,
    "request_headers" JSON NOT NULL,
    "request_body" TEXT NOT NULL,
    "status_code" INTEGER,
    "response_headers" JSON,
    "response_body" TEXT,
    "error" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("project_id","delivery_id","number")
);
CREATE INDEX "webhook_attempt_at_idx" ON "webhook_attempt" USING brin ("at");
