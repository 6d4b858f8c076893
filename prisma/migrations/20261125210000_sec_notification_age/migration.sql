-- Events wait for their notifications in the order of their age, so that a project with many of them does not keep others waiting.
ALTER TABLE notification_due ADD COLUMN queued_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX notification_due_queued_at ON notification_due (queued_at, project_id, sequence);
