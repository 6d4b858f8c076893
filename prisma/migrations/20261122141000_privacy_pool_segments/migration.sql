-- Final logs of privacy pools, so that a restart reads new blocks alone. Public data that belongs to no project; it can be removed at any time.

CREATE TABLE "privacy_pool_segment" (
    "chain_id" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,
    "from_block" BIGINT NOT NULL,
    "to_block" BIGINT NOT NULL,
    "to_hash" TEXT NOT NULL,
    "logs" JSONB NOT NULL,

    CONSTRAINT "privacy_pool_segment_pkey" PRIMARY KEY ("chain_id","digest","from_block")
);
