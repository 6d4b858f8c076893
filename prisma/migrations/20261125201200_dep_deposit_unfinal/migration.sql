-- Deposits that a reorganisation may replace, by their blocks.
CREATE INDEX CONCURRENTLY IF NOT EXISTS deposit_unfinal_idx ON deposit (chain_id, block_number)
  WHERE state NOT IN ('credited', 'released', 'dropped');
