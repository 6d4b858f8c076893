-- User operations that an external bundler has, or that wait until it may have them: a bundler takes four of one sender (ERC-7562).
CREATE TABLE "bundler_queue" (
    "chain_id" INTEGER NOT NULL,
    "user_op_hash" TEXT NOT NULL,
    "sender" TEXT NOT NULL,
    "place" BIGINT GENERATED ALWAYS AS IDENTITY,
    "valid_until" TIMESTAMPTZ(3) NOT NULL,
    "admitted_at" TIMESTAMPTZ(3),

    CONSTRAINT "bundler_queue_pkey" PRIMARY KEY ("chain_id","user_op_hash")
);
CREATE INDEX "bundler_queue_chain_id_sender_place_idx" ON "bundler_queue"("chain_id", "sender", "place");

-- A leg whose operation a bundler refused for too little preVerificationGas is signed again. Both operations have the same nonce and
-- calls, so at most one of them is executed, and its receipt is found under its own hash.
ALTER TABLE "operation_leg" ADD COLUMN "earlier_user_op_hashes" TEXT[] NOT NULL DEFAULT '{}';
