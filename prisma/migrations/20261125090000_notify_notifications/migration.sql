-- Notifications of people, made from the project's events.

-- Numbered events that people may have to be told of. The sequencer adds them with their numbers; the turn that stores the
-- notifications of an event takes its row.
CREATE TABLE notification_due (
  project_id text   NOT NULL,
  sequence   bigint NOT NULL,
  PRIMARY KEY (project_id, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE notification (
  project_id text NOT NULL,
  user_id    text NOT NULL,
  id         text NOT NULL,
  kind       text NOT NULL,
  -- The event, or the alert, that it tells of: one for each person.
  source     text NOT NULL,
  title      text NOT NULL,
  detail     text,
  object_id  text,
  -- Of the page in the dashboard.
  path       text NOT NULL,
  in_app     boolean NOT NULL,
  -- none | at_once, daily: waits for its mail | sent: it was mailed, or the person had no address then
  mail       text NOT NULL CHECK (mail IN ('none', 'at_once', 'daily', 'sent')),
  created_at timestamptz(3) NOT NULL,
  read_at    timestamptz(3),
  PRIMARY KEY (project_id, user_id, id)
);
CREATE UNIQUE INDEX notification_project_id_user_id_source_key ON notification (project_id, user_id, source);
CREATE INDEX notification_unread_idx ON notification (project_id, user_id, kind) WHERE in_app AND read_at IS NULL;
CREATE INDEX notification_mail_idx ON notification (project_id, user_id, id) WHERE mail IN ('at_once', 'daily');
CREATE INDEX notification_created_at_idx ON notification USING brin (created_at);

-- One row for each person of a project who was notified.
CREATE TABLE notification_box (
  project_id  text   NOT NULL,
  user_id     text   NOT NULL,
  -- Counts the changes of the person's list.
  version     bigint NOT NULL DEFAULT 0,
  -- When mail is due next; null while nothing waits for it.
  mail_due_at timestamptz(3),
  mailed_at   timestamptz(3),
  PRIMARY KEY (project_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX notification_box_mail_due_idx ON notification_box (mail_due_at) WHERE mail_due_at IS NOT NULL;

-- What a person wants to be told of; kinds without a row have the defaults of lib/modules/notifications/kinds.ts.
CREATE TABLE notification_preference (
  project_id    text NOT NULL,
  user_id       text NOT NULL,
  kind          text NOT NULL,
  in_app        boolean NOT NULL,
  mail          text NOT NULL CHECK (mail IN ('off', 'at_once', 'daily')),
  -- Of large deposits alone: US dollars from which one is large.
  threshold_usd numeric(24, 6) CHECK (threshold_usd >= 0 AND threshold_usd <> 'NaN'),
  PRIMARY KEY (project_id, user_id, kind)
);

-- Accounts of the service that have too little for network fees. `told_project_id` is the last project whose people were told.
CREATE TABLE gas_alert (
  chain_id        integer NOT NULL,
  account         text    NOT NULL CHECK (account IN ('executor', 'paymaster')),
  balance         text    NOT NULL,
  since           timestamptz(3) NOT NULL,
  told_project_id text    NOT NULL DEFAULT '',
  told_at         timestamptz(3),
  PRIMARY KEY (chain_id, account)
);

-- Work that the service stopped is looked for again and again while somebody has an inbox open.
CREATE INDEX job_parked_idx ON job (id) WHERE parked_at IS NOT NULL;
