-- contract: takes back the right that 20261126131000_keys_project_columns gave for 20261126131100_keys_fill_projects.
DROP TRIGGER "ledger_entry_append_only" ON "ledger_entry";
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "ledger_entry"
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
ALTER TABLE "ledger_entry" ENABLE ALWAYS TRIGGER "ledger_entry_append_only";
REVOKE UPDATE ("project_id") ON "ledger_entry" FROM CURRENT_USER;
