-- contract: two triggers that refuse changes are replaced by ones that let the new column be filled, and refuse all that the version before could do.
-- Rows of the hot tables that did not name their project get it: PostgreSQL can only be distributed by a column that every table has.
ALTER TABLE "operation_leg" ADD COLUMN "project_id" TEXT;
ALTER TABLE "operation_event" ADD COLUMN "project_id" TEXT;
ALTER TABLE "payout_item" ADD COLUMN "project_id" TEXT;
ALTER TABLE "payout_rows" ADD COLUMN "project_id" TEXT;
ALTER TABLE "ledger_entry" ADD COLUMN "project_id" TEXT;

-- During an upgrade the version before writes rows without a project. These triggers do nothing for rows of this version; the next version
-- drops them, and `npm run db:distribute` does it at once on a cluster. Legs and events are stored by one statement with their operation,
-- which can only be read when that statement has run.
CREATE FUNCTION keys_project_of_leg() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE operation_leg l SET project_id = o.project_id FROM operation o WHERE l.id = NEW.id AND o.id = NEW.operation_id;
  RETURN NULL;
END $$;
CREATE FUNCTION keys_project_of_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE operation_event e SET project_id = o.project_id FROM operation o
    WHERE e.operation_id = NEW.operation_id AND e.seq = NEW.seq AND o.id = NEW.operation_id;
  RETURN NULL;
END $$;
CREATE FUNCTION keys_project_of_payout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT project_id INTO NEW.project_id FROM payout WHERE id = NEW.payout_id;
  RETURN NEW;
END $$;
CREATE FUNCTION keys_project_of_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT project_id INTO NEW.project_id FROM ledger_account WHERE id = NEW.account_id;
  RETURN NEW;
END $$;
CREATE TRIGGER "keys_project" AFTER INSERT ON "operation_leg" FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION keys_project_of_leg();
CREATE TRIGGER "keys_project" AFTER INSERT ON "operation_event" FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION keys_project_of_event();
CREATE TRIGGER "keys_project" BEFORE INSERT ON "payout_item" FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION keys_project_of_payout();
CREATE TRIGGER "keys_project" BEFORE INSERT ON "payout_rows" FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION keys_project_of_payout();
CREATE TRIGGER "keys_project" BEFORE INSERT ON "ledger_entry" FOR EACH ROW WHEN (NEW.project_id IS NULL) EXECUTE FUNCTION keys_project_of_entry();

-- The next migration fills the new column of rows that may never change. Everything else of them stays refused meanwhile.
DROP TRIGGER "ledger_entry_append_only" ON "ledger_entry";
CREATE TRIGGER "ledger_entry_append_only" BEFORE DELETE OR TRUNCATE OR
  UPDATE OF "account_id", "seq", "transaction_id", "currency", "amount", "balance_after", "created_at"
  ON "ledger_entry" FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
ALTER TABLE "ledger_entry" ENABLE ALWAYS TRIGGER "ledger_entry_append_only";
GRANT UPDATE ("project_id") ON "ledger_entry" TO CURRENT_USER;
-- An event gets its project once. Nothing else of it changes.
DROP TRIGGER "operation_event_append_only" ON "operation_event";
CREATE TRIGGER "operation_event_append_only" BEFORE DELETE ON "operation_event" FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER "operation_event_unchanged" BEFORE UPDATE ON "operation_event" FOR EACH ROW WHEN (OLD.project_id IS NOT NULL OR
  (NEW.operation_id, NEW.seq, NEW.type, NEW.data, NEW.created_at) IS DISTINCT FROM (OLD.operation_id, OLD.seq, OLD.type, OLD.data, OLD.created_at))
  EXECUTE FUNCTION refuse_change();
