-- Tells whether a transfer into a wallet is a payout of the project's own.
CREATE INDEX CONCURRENTLY IF NOT EXISTS wallet_payout_batch_tx_hash_idx ON wallet_payout_batch (tx_hash);
