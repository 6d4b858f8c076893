-- Private payments on a chain, by blocks: for the comparison of coins.
CREATE INDEX CONCURRENTLY IF NOT EXISTS privacy_step_project_id_chain_id_block_number_idx
  ON privacy_step (project_id, chain_id, block_number);
