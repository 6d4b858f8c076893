-- Processes of the service, each of which says every two seconds that it is alive. Small and written often, so its pages keep room.
CREATE TABLE "instance" (
    "id" TEXT NOT NULL,
    "works" BOOLEAN NOT NULL,
    "beats" BIGINT NOT NULL,
    "clock_ahead_ms" DOUBLE PRECISION NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "beat_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
) WITH (fillfactor = 50);

-- The process that works on a request with an Idempotency-Key. Rows of the version before have none; their time runs out.
ALTER TABLE "idempotency_key" ADD COLUMN "instance_id" TEXT;
