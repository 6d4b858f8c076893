-- Whether money may be signed for with this database. The first instance that asks stores the row.
CREATE TABLE "signing_state" (
    "id" INTEGER NOT NULL,
    "identity" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,
    "off_since" TIMESTAMPTZ(3),
    "off_reason" TEXT,
    "allowed_at" TIMESTAMPTZ(3),
    "allowed_by" TEXT,

    CONSTRAINT "signing_state_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "signing_state_one_row" CHECK ("id" = 1)
);

-- Moves that a restore lost and a person accepted.
CREATE TABLE "unknown_move" (
    "chain_id" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "tx_hash" TEXT NOT NULL,
    "block_number" BIGINT NOT NULL,
    "project_id" TEXT,
    "wallet_address" TEXT,
    "payments" JSONB NOT NULL,
    "payload" TEXT NOT NULL,
    "accepted_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_by" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "released_at" TIMESTAMPTZ(3),
    "released_by" TEXT,

    CONSTRAINT "unknown_move_pkey" PRIMARY KEY ("chain_id","hash")
);
