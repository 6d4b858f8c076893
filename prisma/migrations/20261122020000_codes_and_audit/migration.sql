-- Codes: who asked for one. Open codes live for five minutes; those of before count as asked for by the person who received them.
ALTER TABLE "otp" ADD COLUMN "requested_by" TEXT;
UPDATE "otp" SET "requested_by" = "user_id";
ALTER TABLE "otp" ALTER COLUMN "requested_by" SET NOT NULL;

-- DropIndex
DROP INDEX "otp_one_open";
DROP INDEX "otp_subject_id_created_at_idx";
DROP INDEX "otp_user_id_created_at_idx";

-- CreateIndex
CREATE INDEX "otp_project_id_subject_id_created_at_idx" ON "otp"("project_id", "subject_id", "created_at");

-- One open code for each subject and requester, so that nobody's request replaces somebody else's code.
CREATE UNIQUE INDEX "otp_one_open" ON "otp" ("project_id", "subject_id", "requested_by") WHERE "closed_at" IS NULL;

-- CreateTable
CREATE TABLE "code_limit" (
    "bucket" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" TEXT NOT NULL,

    CONSTRAINT "code_limit_pkey" PRIMARY KEY ("bucket","at","id")
);

-- CreateIndex
CREATE INDEX "code_limit_at_idx" ON "code_limit"("at");

-- AlterTable
ALTER TABLE "quote" ADD COLUMN     "approved_by" TEXT,
ADD COLUMN     "approval_code_id" TEXT;

-- An Idempotency-Key belongs to the caller that sent it, not to the project. Quotes and payouts keep theirs: their rows name the caller.
DROP INDEX "quote_project_id_kind_idempotency_key_key";
CREATE UNIQUE INDEX "quote_project_id_kind_created_by_idempotency_key_key" ON "quote"("project_id", "kind", "created_by", "idempotency_key");

DROP INDEX "payout_project_id_kind_idempotency_key_key";
CREATE UNIQUE INDEX "payout_project_id_kind_created_by_idempotency_key_key" ON "payout"("project_id", "kind", "created_by", "idempotency_key");

-- Stored answers do not name their caller, so they cannot be carried over. What moves money holds its key beside its own rows.
DELETE FROM "idempotency_key";
ALTER TABLE "idempotency_key" DROP CONSTRAINT "idempotency_key_pkey",
DROP COLUMN "scope",
ADD COLUMN     "project_id" TEXT NOT NULL,
ADD COLUMN     "actor" TEXT NOT NULL,
ADD COLUMN     "route" TEXT NOT NULL,
ADD CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("project_id","actor","route","key");

-- AlterTable
ALTER TABLE "audit_event" ADD COLUMN     "request_id" TEXT,
ADD COLUMN     "client_address" TEXT;

-- CreateIndex
CREATE INDEX "audit_event_project_id_subject_id_idx" ON "audit_event"("project_id", "subject", "id");

-- CreateIndex
CREATE INDEX "audit_event_project_id_action_id_idx" ON "audit_event"("project_id", "action", "id");
