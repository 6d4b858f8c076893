-- The fundings of a project's accounts and their reversals, newest first. Payments between accounts, of which there are many more, are not in it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_transaction_funding_idx ON ledger_transaction (project_id, id DESC)
  WHERE kind IN ('fund', 'reverse') AND rejection IS NULL;
