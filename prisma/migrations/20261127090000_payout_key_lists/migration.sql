-- Each process keeps a filter of the keys of payments that were accepted, and reads from time to time which keys were added since: those of the
-- transactions that its last snapshot did not see.

-- The keys that moved to "payout_row_key" in the last two hours, for processes that did not read them before.
CREATE TABLE "payout_key_list" (
    "id" BIGSERIAL NOT NULL,
    "project_id" TEXT NOT NULL,
    "transaction_id" XID8 NOT NULL DEFAULT pg_current_xact_id(),
    "payout_id" TEXT NOT NULL,
    "moved_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now(),
    "keys" UUID[],

    CONSTRAINT "payout_key_list_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "payout_key_list_project_id_transaction_id_idx" ON "payout_key_list" ("project_id","transaction_id");
CREATE INDEX "payout_key_list_moved_at_idx" ON "payout_key_list" USING BRIN ("moved_at");
-- Hashes cannot be compressed.
ALTER TABLE "payout_key_list" ALTER COLUMN "keys" SET STORAGE EXTERNAL;

-- Says whether ids of transactions still mean what they meant: a server that crashed, or took over from another one, may give an id again that was
-- given before. It then finds an unlogged table empty.
CREATE UNLOGGED TABLE "server_life" (
    "one" BOOLEAN NOT NULL DEFAULT true CHECK ("one"),
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),

    CONSTRAINT "server_life_pkey" PRIMARY KEY ("one")
);

-- By a trigger, so that keys which a version before this one stores or moves are listed too.
CREATE FUNCTION list_payout_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO payout_key_list (project_id, payout_id, keys)
  SELECT project_id, payout_id, array_agg(encode(row_key, 'hex')::uuid) FROM added GROUP BY project_id, payout_id;
  RETURN NULL;
END $$;

-- In a block, because Citus sends its nodes the whole text around a statement that changes a distributed table.
DO $$
BEGIN
  -- In two steps: the default must not fill rows that other transactions stored.
  ALTER TABLE "payout_new_keys" ADD COLUMN "transaction_id" XID8;
  ALTER TABLE "payout_new_keys" ALTER COLUMN "transaction_id" SET DEFAULT pg_current_xact_id();

  -- Citus allows neither of the following on tables that are distributed already. Every key is searched there, and rows stay compressed.
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'payout_row_key'::regclass) THEN
      RETURN;
    END IF;
  END IF;
  CREATE TRIGGER "list_payout_keys" AFTER INSERT ON "payout_row_key" REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION list_payout_keys();
  -- Compressing a thousand rows took twice as long as all else of storing them.
  ALTER TABLE "payout_rows" ALTER COLUMN "rows" SET STORAGE EXTERNAL;
END $$;
