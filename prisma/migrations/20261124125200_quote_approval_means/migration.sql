-- The factor by which a quote was approved. Null for rows older than the column: mailed codes approved them.
ALTER TABLE "quote" ADD COLUMN "approval_means" TEXT;
