-- The addresses that deposits are looked for, which each search reads.
CREATE INDEX CONCURRENTLY IF NOT EXISTS wallet_signed_idx ON wallet (address)
  WHERE kind IN ('treasury', 'smart_account') AND key_id IS NOT NULL AND unlinked_at IS NULL;
