-- Memo and tags that people give to an operation or a payout. They change nothing about it.
CREATE TABLE "annotation" (
  "project_id" TEXT NOT NULL,
  -- operation | payout
  "subject_type" TEXT NOT NULL,
  "subject_id" TEXT NOT NULL,
  "memo" TEXT NOT NULL,
  "tags" TEXT[] NOT NULL,
  "updated_by" TEXT NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "annotation_pkey" PRIMARY KEY ("project_id", "subject_type", "subject_id")
);
