-- Refunds on a chain, by blocks: for the comparison of coins.
CREATE INDEX CONCURRENTLY IF NOT EXISTS operation_leg_refund_idx ON operation_leg (source_chain_id, refund_block)
  WHERE refund_block IS NOT NULL;
