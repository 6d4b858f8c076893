-- The limits that the project sets for itself. The other two columns are the operator's, which they cannot exceed.
ALTER TABLE "sponsor_budget" ADD COLUMN "own_daily_wei" DECIMAL(78, 0), ADD COLUMN "own_operation_wei" DECIMAL(78, 0);
