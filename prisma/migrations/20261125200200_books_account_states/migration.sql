-- Why an account is frozen or closed. The state itself stays in `status`: active | frozen | closed.
ALTER TABLE "ledger_account" ADD COLUMN "status_reason" TEXT;
ALTER TABLE "ledger_account" DROP CONSTRAINT "ledger_account_status_check";
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_status_check" CHECK ("status" IN ('active', 'frozen', 'closed')) NOT VALID;
ALTER TABLE "ledger_account" VALIDATE CONSTRAINT "ledger_account_status_check";
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'causeway_ledger') THEN
    GRANT UPDATE ("status_reason") ON "ledger_account" TO causeway_ledger;
  END IF;
END $$;
