-- Added as NOT VALID when `needs_attention` became a state. The check reads all rows, without a lock that stops writers.
ALTER TABLE "operation_leg" VALIDATE CONSTRAINT "operation_leg_state_check";
