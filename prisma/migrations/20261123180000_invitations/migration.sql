CREATE TABLE invitation (
  id           text PRIMARY KEY,
  project_id   text NOT NULL REFERENCES project (id),
  email        text NOT NULL,
  role         text NOT NULL,
  -- SHA-256 of the token in the mailed link; the token itself is not stored.
  token_hash   bytea NOT NULL UNIQUE,
  invited_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  accepted_at  timestamptz(3),
  accepted_by  text,
  withdrawn_at timestamptz(3)
);
CREATE INDEX invitation_project_id_created_at_idx ON invitation (project_id, created_at);
-- A project has at most one open invitation for an address; an expired one is withdrawn before the next.
CREATE UNIQUE INDEX invitation_open_idx ON invitation (project_id, email) WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
