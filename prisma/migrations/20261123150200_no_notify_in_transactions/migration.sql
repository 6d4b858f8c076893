-- A commit after NOTIFY takes one lock of the whole cluster and holds it until its log is on disk, so commits went one after another.
-- Instances now send one notification for many changes after their commits, on a connection of their own (lib/db/listener.ts).
DROP TRIGGER "operation_event_notify" ON "operation_event";
DROP FUNCTION notify_operation_event();
DROP TRIGGER "job_notify" ON "job";
DROP FUNCTION notify_job();
