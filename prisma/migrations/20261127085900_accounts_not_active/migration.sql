-- A payout asks which of its project's accounts cannot be paid. Few are frozen or closed.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "ledger_account_not_active_idx" ON "ledger_account" ("project_id") WHERE "kind" = 'customer' AND "status" <> 'active';
