-- The chain of the audit log. Rows are linked a moment after their transaction has committed, so that no transaction that moves money
-- waits for another one's place in the chain.

-- CreateTable
CREATE TABLE "audit_link" (
    "chain" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "event_id" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "audit_link_pkey" PRIMARY KEY ("chain","seq")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_link_event_id_key" ON "audit_link"("event_id");

-- CreateTable
CREATE TABLE "audit_head" (
    "chain" TEXT NOT NULL,
    "seq" BIGINT NOT NULL,
    "hash" BYTEA NOT NULL,
    "mac" BYTEA NOT NULL,
    "key_id" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("chain")
);

-- CreateTable
CREATE TABLE "audit_unlinked" (
    "event_id" TEXT NOT NULL,

    CONSTRAINT "audit_unlinked_pkey" PRIMARY KEY ("event_id")
);

-- CreateIndex
CREATE INDEX "audit_event_project_id_actor_id_idx" ON "audit_event"("project_id", "actor", "id");

-- Rows of before are linked in the order of their ids.
INSERT INTO "audit_unlinked" ("event_id") SELECT "id" FROM "audit_event";

ALTER TABLE "audit_link" ADD CONSTRAINT "audit_link_seq_check" CHECK ("seq" > 0);

-- What was recorded stays as it was recorded. An owner of the tables that is no superuser loses the rights as well.
REVOKE UPDATE, DELETE, TRUNCATE ON "audit_event", "audit_link" FROM PUBLIC, CURRENT_USER;
REVOKE DELETE, TRUNCATE ON "audit_head" FROM PUBLIC, CURRENT_USER;
