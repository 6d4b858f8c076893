-- The deposits that wait for a person, the most worth first.
CREATE INDEX CONCURRENTLY IF NOT EXISTS deposit_quarantined_worth_idx ON deposit (project_id, usd_micro DESC NULLS LAST, id DESC)
  WHERE state = 'quarantined';
