-- A leg whose refund the chains do not show for certain waits for a person.
ALTER TABLE "operation_leg" ADD COLUMN "refund_attention" JSONB;
ALTER TABLE "operation_leg" DROP CONSTRAINT "operation_leg_state_check";
-- NOT VALID: rows that are there already satisfied the narrower check.
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_state_check" CHECK (
  "state" IN ('queued', 'submitted', 'source_seen', 'bridging', 'filled_seen', 'refunding', 'refund_seen', 'needs_attention', 'completed', 'failed', 'refunded')
) NOT VALID;

-- A transfer on chain that refunds one or more deposits. Legs may claim no more of it than it paid.
CREATE TABLE "refund_payment" (
  "chain_id" INTEGER NOT NULL,
  "tx_hash" TEXT NOT NULL,
  "log_index" INTEGER NOT NULL,
  "paid_base" DECIMAL(78, 0) NOT NULL CHECK ("paid_base" BETWEEN 1 AND 2::numeric ^ 256 - 1),
  "claimed_base" DECIMAL(78, 0) NOT NULL,
  CONSTRAINT "refund_payment_pkey" PRIMARY KEY ("chain_id", "tx_hash", "log_index"),
  CONSTRAINT "refund_payment_claimed_check" CHECK ("claimed_base" BETWEEN 0 AND "paid_base")
);

-- The part of a payment that is the refund of one leg's deposit.
CREATE TABLE "refund_claim" (
  "leg_id" TEXT NOT NULL REFERENCES "operation_leg" ("id"),
  "chain_id" INTEGER NOT NULL,
  "tx_hash" TEXT NOT NULL,
  "log_index" INTEGER NOT NULL,
  "amount_base" DECIMAL(78, 0) NOT NULL CHECK ("amount_base" BETWEEN 1 AND 2::numeric ^ 256 - 1),
  -- The person who named the payment; null where the chains show it for certain.
  "decided_by" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "refund_claim_pkey" PRIMARY KEY ("leg_id"),
  CONSTRAINT "refund_claim_payment_fkey" FOREIGN KEY ("chain_id", "tx_hash", "log_index")
    REFERENCES "refund_payment" ("chain_id", "tx_hash", "log_index")
);
CREATE INDEX "refund_claim_chain_id_tx_hash_log_index_idx" ON "refund_claim" ("chain_id", "tx_hash", "log_index");
