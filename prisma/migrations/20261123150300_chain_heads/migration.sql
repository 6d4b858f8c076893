-- The newest block of each chain: one instance asks for it, the others read it here.
CREATE TABLE "chain_head" (
    "chain_id" INTEGER NOT NULL,
    "asker" TEXT NOT NULL,
    "asking_until" TIMESTAMPTZ(3),
    "number" DECIMAL(78,0),
    "timestamp" DECIMAL(78,0),
    "read_at" TIMESTAMPTZ(3),

    CONSTRAINT "chain_head_pkey" PRIMARY KEY ("chain_id")
);
