-- The months whose events and deliveries were written to files (docs/operations.md#archive).
CREATE TABLE "archive_month" (
    "month" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL,
    "manifest_sha256" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archive_month_pkey" PRIMARY KEY ("month")
);
ALTER TABLE "archive_month" ADD CONSTRAINT "archive_month_state_check" CHECK ("state" IN ('written', 'removing', 'removed', 'restoring', 'restored'));

-- The numbers of a project's events that are in such a file, and perhaps not in the table any more.
CREATE TABLE "archived_events" (
    "project_id" TEXT NOT NULL,
    "month" TEXT NOT NULL,
    "first_sequence" BIGINT NOT NULL,
    "last_sequence" BIGINT NOT NULL,
    "file" TEXT NOT NULL,

    CONSTRAINT "archived_events_pkey" PRIMARY KEY ("project_id","month")
);
