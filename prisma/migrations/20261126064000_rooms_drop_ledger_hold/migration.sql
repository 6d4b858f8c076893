-- Always empty: money is held in "balance_hold", and no version since 1.0 reads or writes this table.
DROP TABLE "ledger_hold";
