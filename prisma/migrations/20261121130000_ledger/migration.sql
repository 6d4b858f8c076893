-- CreateTable
CREATE TABLE "ledger_account" (
    "id" UUID NOT NULL,
    "project_id" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT,
    "status" TEXT NOT NULL,
    "minimum" DECIMAL(78,0),
    "balance" DECIMAL(78,0) NOT NULL DEFAULT 0,
    "held" DECIMAL(78,0) NOT NULL DEFAULT 0,
    "version" BIGINT NOT NULL DEFAULT 0,
    "last_seq" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_transaction" (
    "id" UUID NOT NULL,
    "project_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "idempotency_key" TEXT NOT NULL,
    "key_hash" UUID NOT NULL,
    "request_digest" BYTEA NOT NULL,
    "reverses_id" UUID,
    "rejection" JSONB,
    "data" JSONB,
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_transaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "account_id" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "transaction_id" UUID NOT NULL,
    "currency" TEXT NOT NULL,
    "amount" DECIMAL(78,0) NOT NULL,
    "balance_after" DECIMAL(78,0) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("account_id","seq")
);

-- CreateTable
CREATE TABLE "ledger_hold" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "amount" DECIMAL(78,0) NOT NULL,
    "posted_amount" DECIMAL(78,0),
    "status" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "transaction_id" UUID NOT NULL,
    "settled_by" UUID,

    CONSTRAINT "ledger_hold_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ledger_account_project_id_kind_id_idx" ON "ledger_account"("project_id", "kind", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_transaction_key_hash_key" ON "ledger_transaction"("key_hash");

-- CreateIndex
CREATE INDEX "ledger_entry_transaction_id_idx" ON "ledger_entry"("transaction_id");

-- What Prisma cannot say.

-- NaN is greater than every number in PostgreSQL, so an upper bound refuses it as well.
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_balance_check" CHECK ("balance" BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1);
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_held_check" CHECK ("held" BETWEEN 0 AND 2::numeric ^ 256 - 1);
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_minimum_check" CHECK ("balance" - "held" >= "minimum" AND "minimum" <> 'NaN');
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_counts_check" CHECK ("version" >= "last_seq" AND "last_seq" >= 0);
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_status_check" CHECK ("status" IN ('active', 'frozen'));
-- Customers' accounts are bounded; the system side shows what is owed to them, negated.
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_kind_check" CHECK (
  ("kind" = 'customer' AND "minimum" IS NOT NULL) OR ("kind" IN ('treasury_reserve', 'external') AND "minimum" IS NULL)
);
CREATE UNIQUE INDEX "ledger_account_one_system" ON "ledger_account" ("project_id", "currency", "kind") WHERE "kind" <> 'customer';

ALTER TABLE "ledger_transaction" ADD CONSTRAINT "ledger_transaction_kind_check" CHECK (
  "kind" IN ('open', 'transfer', 'batch', 'fund', 'hold', 'post', 'void', 'expire', 'reverse')
);
-- A rejected reversal reverses nothing.
ALTER TABLE "ledger_transaction" ADD CONSTRAINT "ledger_transaction_reverses_check" CHECK (
  ("reverses_id" IS NOT NULL) = ("kind" = 'reverse' AND "rejection" IS NULL)
);
-- A transaction is reversed once at most.
CREATE UNIQUE INDEX "ledger_transaction_reverses_id_key" ON "ledger_transaction" ("reverses_id") WHERE "reverses_id" IS NOT NULL;

ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_amount_check" CHECK ("amount" BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1 AND "amount" <> 0);
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_balance_after_check" CHECK ("balance_after" BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1);
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_seq_check" CHECK ("seq" > 0);

ALTER TABLE "ledger_hold" ADD CONSTRAINT "ledger_hold_amount_check" CHECK ("amount" BETWEEN 1 AND 2::numeric ^ 256 - 1);
ALTER TABLE "ledger_hold" ADD CONSTRAINT "ledger_hold_status_check" CHECK ("status" IN ('open', 'posted', 'voided', 'expired'));
ALTER TABLE "ledger_hold" ADD CONSTRAINT "ledger_hold_settled_check" CHECK (("status" = 'open') = ("settled_by" IS NULL));
ALTER TABLE "ledger_hold" ADD CONSTRAINT "ledger_hold_posted_check" CHECK (
  ("status" = 'posted') = ("posted_amount" IS NOT NULL) AND ("posted_amount" IS NULL OR "posted_amount" BETWEEN 1 AND "amount")
);
CREATE INDEX "ledger_hold_open" ON "ledger_hold" ("account_id") WHERE "status" = 'open';
CREATE INDEX "ledger_hold_expiring" ON "ledger_hold" ("expires_at") WHERE "status" = 'open';

-- Room on each page, so that a new balance is written beside the old one and no index changes.
ALTER TABLE "ledger_account" SET (fillfactor = 50);

-- What was posted stays as it was posted, whoever asks: the owner of the tables too, and while replicating.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% refuses %: the ledger is append-only, corrections are reversals', TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entry" FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER "ledger_transaction_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_transaction" FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER "ledger_account_kept" BEFORE DELETE OR TRUNCATE ON "ledger_account" FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER "ledger_hold_kept" BEFORE DELETE OR TRUNCATE ON "ledger_hold" FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
ALTER TABLE "ledger_entry" ENABLE ALWAYS TRIGGER "ledger_entry_append_only";
ALTER TABLE "ledger_transaction" ENABLE ALWAYS TRIGGER "ledger_transaction_append_only";
ALTER TABLE "ledger_account" ENABLE ALWAYS TRIGGER "ledger_account_kept";
ALTER TABLE "ledger_hold" ENABLE ALWAYS TRIGGER "ledger_hold_kept";

-- The same by privilege. An owner that is no superuser loses the rights as well.
REVOKE UPDATE, DELETE, TRUNCATE ON "ledger_entry", "ledger_transaction" FROM PUBLIC, CURRENT_USER;
REVOKE DELETE, TRUNCATE ON "ledger_account", "ledger_hold" FROM PUBLIC, CURRENT_USER;

-- The role that the ledger's own connections take. Where the user may not create roles, the triggers alone stand guard.
-- Roles belong to the whole server: another database on it may have made this one, even at this moment.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'causeway_ledger') THEN
    BEGIN
      CREATE ROLE causeway_ledger NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'causeway_ledger') THEN RETURN; END IF;
  -- PostgreSQL 15 does not have the privilege SET; there, every member of a role may take it.
  IF NOT pg_has_role(CURRENT_USER, 'causeway_ledger', CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
    BEGIN
      EXECUTE format('GRANT causeway_ledger TO %I', CURRENT_USER);
    EXCEPTION
      WHEN insufficient_privilege OR unique_violation THEN NULL;
    END;
  END IF;
  GRANT SELECT, INSERT ON "ledger_account", "ledger_transaction", "ledger_entry", "ledger_hold" TO causeway_ledger;
  GRANT UPDATE ("name", "status", "balance", "held", "version", "last_seq", "updated_at") ON "ledger_account" TO causeway_ledger;
  GRANT UPDATE ("status", "posted_amount", "settled_by") ON "ledger_hold" TO causeway_ledger;
END $$;
