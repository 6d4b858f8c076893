-- What legs brought to a chain, by blocks: for the comparison of coins.
CREATE INDEX CONCURRENTLY IF NOT EXISTS operation_leg_arrival_idx ON operation_leg (dest_chain_id, (coalesce(dest_block, source_block)));
