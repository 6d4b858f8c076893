-- Requests that all instances together may still send to the nodes of a chain. Unlogged: after a crash of the server it begins full again.
CREATE UNLOGGED TABLE "rpc_budget" (
    "chain_id" INTEGER NOT NULL,
    "requests" DOUBLE PRECISION NOT NULL,
    "granted" INTEGER NOT NULL,
    "refilled_at" TIMESTAMPTZ(6) NOT NULL,

    CONSTRAINT "rpc_budget_pkey" PRIMARY KEY ("chain_id")
);
