-- Requests that several people of a project decide by vote. One open request for each subject.
CREATE TABLE decision_request (
  project_id     text NOT NULL REFERENCES project (id),
  id             text NOT NULL,
  subject_type   text NOT NULL,
  subject_id     text NOT NULL,
  -- SHA-256 of everything that is approved.
  digest         bytea NOT NULL,
  title          text NOT NULL,
  lines          text[] NOT NULL,
  -- The person or key that asked, and the person behind it.
  maker          text NOT NULL,
  maker_user_id  text NOT NULL,
  votes_required integer NOT NULL CHECK (votes_required > 0),
  roles          text[] NOT NULL CHECK (cardinality(roles) > 0),
  exclude_maker  boolean NOT NULL,
  state          text NOT NULL CHECK (state IN ('open', 'approved', 'declined', 'expired', 'cancelled')),
  created_at     timestamptz(3) NOT NULL,
  expires_at     timestamptz(3) NOT NULL,
  -- When those who may decide were mailed.
  notified_at    timestamptz(3),
  decided_at     timestamptz(3),
  -- The person whose vote decided.
  decided_by     text,
  -- When the subject had been carried on, or ended.
  settled_at     timestamptz(3),
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX decision_request_open_idx ON decision_request (project_id, subject_type, subject_id) WHERE state = 'open';
CREATE INDEX decision_request_project_id_subject_id_idx ON decision_request (project_id, subject_id);
CREATE INDEX decision_request_project_id_state_idx ON decision_request (project_id, state, id);

-- One vote for each person and request; never changed.
CREATE TABLE decision_vote (
  project_id text NOT NULL,
  request_id text NOT NULL,
  user_id    text NOT NULL,
  decision   text NOT NULL CHECK (decision IN ('approve', 'decline')),
  reason     text,
  -- code | signature
  means      text NOT NULL,
  code_id    text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, request_id, user_id),
  FOREIGN KEY (project_id, request_id) REFERENCES decision_request (project_id, id)
);

-- Who must approve what awaits approval; no approvals of others by default.
ALTER TABLE project
  ADD COLUMN approvals_count integer NOT NULL DEFAULT 0 CHECK (approvals_count >= 0),
  ADD COLUMN approvals_roles text[] NOT NULL DEFAULT '{}',
  ADD COLUMN approvals_exclude_maker boolean NOT NULL DEFAULT true;
