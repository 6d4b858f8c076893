-- Versions of policies. A change stores the next version; the newest of each subject applies.
CREATE TABLE policy (
  project_id text NOT NULL REFERENCES project (id),
  id         text NOT NULL,
  scope      text NOT NULL CHECK (scope IN ('project', 'wallet', 'key')),
  -- The project, the wallet or the API key that it bounds.
  subject_id text NOT NULL,
  version    integer NOT NULL CHECK (version > 0),
  rules      jsonb NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX policy_project_id_scope_subject_id_version_key ON policy (project_id, scope, subject_id, version);

-- What was moved under a policy's daily caps. Its rows are locked by the transaction that accepts a movement.
CREATE TABLE policy_usage (
  project_id text NOT NULL,
  scope      text NOT NULL,
  subject_id text NOT NULL,
  day        date NOT NULL,
  -- usd | usd_without_code | asset:<assetId>
  unit       text NOT NULL,
  spent      numeric(78, 18) NOT NULL CHECK (spent >= 0 AND spent <> 'NaN'),
  PRIMARY KEY (project_id, scope, subject_id, day, unit)
);

-- Every evaluation that moved or stopped money.
CREATE TABLE policy_evaluation (
  project_id   text NOT NULL,
  id           text NOT NULL,
  -- operation | payout; request: it was stopped before anything was stored
  subject_type text NOT NULL,
  subject_id   text,
  -- SHA-256 of what may move: the parameters that a signer compares with what it is asked to sign.
  digest       bytea NOT NULL,
  -- HMAC of id, subject, digest and decision under a key of the application secret.
  mac          bytea NOT NULL,
  facts        jsonb NOT NULL,
  policies     jsonb NOT NULL,
  rules        jsonb NOT NULL,
  -- allow | needs_approval | deny
  decision     text NOT NULL,
  -- required | not
  code         text NOT NULL,
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX policy_evaluation_project_id_subject_id_idx ON policy_evaluation (project_id, subject_id);

-- When an address was first paid; a cool-down for new recipients counts from then.
CREATE TABLE policy_recipient (
  project_id    text NOT NULL,
  -- Lower case.
  address       text NOT NULL,
  first_paid_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, address)
);

-- Append-only. An owner that is no superuser loses the rights as well.
REVOKE UPDATE, DELETE, TRUNCATE ON policy, policy_evaluation FROM PUBLIC, CURRENT_USER;

ALTER TABLE operation ADD COLUMN evaluation_id text;
ALTER TABLE payout ADD COLUMN evaluation_id text;

-- Everybody who is in the address book today counts as approved; a new contact is proposed first.
ALTER TABLE contact ADD COLUMN state text NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'approved'));
ALTER TABLE contact ADD COLUMN approved_at timestamptz(3);
ALTER TABLE contact ADD COLUMN approved_by text;
UPDATE contact SET state = 'approved', approved_at = created_at;

INSERT INTO policy_recipient (project_id, address, first_paid_at)
SELECT project_id, lower(request->'destination'->>'recipient'), min(accepted_at)
FROM operation
WHERE accepted_at IS NOT NULL AND status IN ('processing', 'completed') AND kind IN ('swap', 'transfer', 'swap_and_transfer', 'unshield')
  AND request->'destination'->>'recipient' IS NOT NULL
GROUP BY 1, 2;

INSERT INTO policy_recipient (project_id, address, first_paid_at)
SELECT item.project_id, lower(item.recipient), min(payout.created_at)
FROM wallet_payout_item AS item JOIN payout ON payout.project_id = item.project_id AND payout.id = item.payout_id
WHERE payout.status IN ('processing', 'completed', 'partially_completed') AND item.status IS NULL
GROUP BY 1, 2
ON CONFLICT (project_id, address) DO UPDATE SET first_paid_at = least(policy_recipient.first_paid_at, EXCLUDED.first_paid_at);
