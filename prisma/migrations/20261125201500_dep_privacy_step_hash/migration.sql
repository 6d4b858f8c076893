-- Tells whether a transfer into a wallet is a private payment of the project's own.
CREATE INDEX CONCURRENTLY IF NOT EXISTS privacy_step_project_id_chain_id_tx_hash_idx ON privacy_step (project_id, chain_id, tx_hash);
