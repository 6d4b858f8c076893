-- The keys by which repeated payments are refused, as a payout is accepted: one row for all of its rows, because a row with an index entry
-- for each took longer than storing the payout. A worker moves them to "payout_row_key" within a second.
CREATE TABLE "payout_new_keys" (
    "project_id" TEXT NOT NULL,
    "payout_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "keys" UUID[],
    CONSTRAINT "payout_new_keys_pkey" PRIMARY KEY ("project_id","payout_id")
);
-- Hashes cannot be compressed.
ALTER TABLE "payout_new_keys" ALTER COLUMN "keys" SET STORAGE EXTERNAL;
