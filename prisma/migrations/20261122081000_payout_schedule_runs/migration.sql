-- Runs of schedules that were begun, and of which no payout is known yet: looked for after every tick, and few.
CREATE INDEX "payout_schedule_run_open" ON "payout_schedule_run" ("scheduled_at") WHERE "status" = 'started' AND "payout_id" IS NULL;
