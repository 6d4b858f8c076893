-- Limits that the operator sets for one project on one chain, in place of those of the chain's configuration.
CREATE TABLE "sponsor_budget" (
    "project_id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "daily_wei" DECIMAL(78,0),
    "operation_wei" DECIMAL(78,0),
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sponsor_budget_pkey" PRIMARY KEY ("project_id","chain_id"),
    CONSTRAINT "sponsor_budget_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    -- NUMERIC takes NaN, and NaN is larger than every number; BETWEEN refuses it.
    CONSTRAINT "sponsor_budget_limits_check" CHECK (
      ("daily_wei" IS NULL OR "daily_wei" BETWEEN 0 AND 2::numeric ^ 256 - 1)
      AND ("operation_wei" IS NULL OR "operation_wei" BETWEEN 0 AND 2::numeric ^ 256 - 1)
    )
);

-- What a project's operations cost the sponsor, by the UTC day on which they were accepted.
CREATE TABLE "sponsor_usage" (
    "project_id" TEXT NOT NULL,
    "chain_id" INTEGER NOT NULL,
    "day" DATE NOT NULL,
    "reserved_wei" DECIMAL(78,0) NOT NULL,
    "used_wei" DECIMAL(78,0) NOT NULL,

    CONSTRAINT "sponsor_usage_pkey" PRIMARY KEY ("project_id","chain_id","day"),
    CONSTRAINT "sponsor_usage_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE,
    CONSTRAINT "sponsor_usage_amounts_check" CHECK (
      "reserved_wei" BETWEEN 0 AND 2::numeric ^ 256 - 1 AND "used_wei" BETWEEN 0 AND 2::numeric ^ 256 - 1
    )
);

-- A reservation belongs to its leg: it is open as long as the leg is.
ALTER TABLE "operation_leg" ADD COLUMN "sponsor_reserved_wei" DECIMAL(78,0), ADD COLUMN "sponsor_day" DATE;
ALTER TABLE "operation_leg" ADD CONSTRAINT "operation_leg_sponsor_check" CHECK (
  ("sponsor_reserved_wei" IS NULL) = ("sponsor_day" IS NULL)
  AND ("sponsor_reserved_wei" IS NULL OR "sponsor_reserved_wei" BETWEEN 0 AND 2::numeric ^ 256 - 1)
);
