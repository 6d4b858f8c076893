-- Consecutive failed turns of a job, and when it was parked after too many of them: no worker takes it until a person puts it back.
ALTER TABLE "job" ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0, ADD COLUMN "parked_at" TIMESTAMPTZ(3);
