-- Versions of signed sanctions lists, with where they are from and who imported them.
CREATE TABLE screening_list (
  name        text NOT NULL,
  version     integer NOT NULL CHECK (version > 0),
  -- SHA-256 of the signed bytes.
  digest      bytea NOT NULL,
  source      text NOT NULL,
  -- The public key that its signature was checked with.
  key_id      text NOT NULL,
  issued_at   timestamptz(3) NOT NULL,
  valid_until timestamptz(3) NOT NULL,
  entries     integer NOT NULL,
  imported_by text NOT NULL,
  imported_at timestamptz(3) NOT NULL,
  PRIMARY KEY (name, version)
);

CREATE TABLE screening_list_entry (
  list_name text NOT NULL,
  version   integer NOT NULL,
  -- Lower case.
  address   text NOT NULL,
  label     text NOT NULL,
  PRIMARY KEY (list_name, version, address),
  FOREIGN KEY (list_name, version) REFERENCES screening_list (name, version)
);

-- Every screening that let money move or stopped it.
CREATE TABLE screening_record (
  project_id   text NOT NULL,
  id           text NOT NULL,
  -- operation | payout | funding | request: it was stopped before anything was stored
  subject_type text NOT NULL,
  subject_id   text,
  -- The leg, or the payout's batch, that was about to be signed.
  part         text,
  -- accept | sign | broadcast | credit
  phase        text NOT NULL,
  -- block_hits | require_clear
  mode         text NOT NULL,
  -- passed | stopped | sent_by_wallet | quarantined
  outcome      text NOT NULL,
  addresses    integer NOT NULL,
  -- What each source said, counted: [{source, listVersion, state, count}]
  sources      jsonb NOT NULL,
  -- The first addresses that were not clear: [{address, state, source, listVersion}]
  findings     jsonb NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX screening_record_project_id_subject_id_idx ON screening_record (project_id, subject_id);

-- Append-only. An owner that is no superuser loses the rights as well.
REVOKE UPDATE, DELETE, TRUNCATE ON screening_list, screening_list_entry, screening_record FROM PUBLIC, CURRENT_USER;
