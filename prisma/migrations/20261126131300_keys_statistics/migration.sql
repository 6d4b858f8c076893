-- Statements name the project beside the account or the payout, whose project is always the same. Without these statistics PostgreSQL takes the two
-- for independent, expects far fewer rows than there are, and sorts all entries of an account to return its last ones.
CREATE STATISTICS "ledger_entry_project" (dependencies) ON "project_id", "account_id" FROM "ledger_entry";
CREATE STATISTICS "payout_item_project" (dependencies) ON "project_id", "payout_id" FROM "payout_item";
-- The last statistics may be from before the new column was filled.
ANALYZE "operation_leg";
ANALYZE "operation_event";
ANALYZE "payout_rows";
ANALYZE "payout_item";
ANALYZE "ledger_entry";
