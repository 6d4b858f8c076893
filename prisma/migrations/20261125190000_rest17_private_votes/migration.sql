-- Requests for votes on private operations: shown only to callers who may read private operations.
ALTER TABLE "decision_request" ADD COLUMN "private" BOOLEAN NOT NULL DEFAULT false;
-- The factor by which a private quote was approved. Null for rows older than the column: mailed codes approved them.
ALTER TABLE "privacy_quote" ADD COLUMN "code_means" TEXT;
-- The rules and settings that demanded the votes, in words. Empty for rows older than the column.
ALTER TABLE "decision_request" ADD COLUMN "demanded_by" TEXT[] NOT NULL DEFAULT '{}';
