-- Rows are added in the order of their time and swept in it: a block range index costs next to nothing where a tree costs a third of
-- each insert.
DROP INDEX "payout_row_key_created_at_idx";
CREATE INDEX "payout_row_key_created_at_idx" ON "payout_row_key" USING brin ("created_at");
