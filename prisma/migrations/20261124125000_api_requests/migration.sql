-- One row for each request that was made with an API key. Written in batches after the answers; swept by age.
CREATE TABLE "api_request" (
    "project_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "key_id" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "code" TEXT,
    "duration_ms" DOUBLE PRECISION NOT NULL,
    "client_address" TEXT,
    "body_sha256" BYTEA,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_request_pkey" PRIMARY KEY ("project_id", "id")
);
CREATE INDEX "api_request_project_id_key_id_id_idx" ON "api_request" ("project_id", "key_id", "id");
CREATE INDEX "api_request_at_idx" ON "api_request" ("at");
