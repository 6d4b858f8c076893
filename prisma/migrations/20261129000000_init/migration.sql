-- The schema of the first version. Later migrations only add to it
-- (docs/how-to/write-a-migration.md).
-- prisma/schema.prisma describes the columns; this file adds everything that Prisma cannot express.
--
-- Amounts are NUMERIC(78, 0) base units. NUMERIC takes NaN, which is larger than every number, so
-- each check has an upper bound or names NaN. A status that its state machine does not know is a
-- bug that must not be stored.

-- ------------------------------------------------------------ people

CREATE TABLE app_user (
  id                text PRIMARY KEY,
  address           text NOT NULL,
  name              text,
  email             text,
  email_verified_at timestamptz(3),
  email_held_until  timestamptz(3),
  contract_chain_id integer,
  created_at        timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX app_user_address_key ON app_user (address);

CREATE TABLE project (
  id                      text PRIMARY KEY,
  name                    text NOT NULL,
  daily_cap_usd           numeric(38, 6) NOT NULL DEFAULT 1000
    CHECK (daily_cap_usd >= 0 AND daily_cap_usd <> 'NaN'),
  reporting_currency      text NOT NULL DEFAULT 'USD',
  created_at              timestamptz(3) NOT NULL,
  approvals_count         integer NOT NULL DEFAULT 0 CHECK (approvals_count >= 0),
  approvals_roles         text[] NOT NULL DEFAULT '{}',
  approvals_exclude_maker boolean NOT NULL DEFAULT true,
  approvals_exempt_keys   boolean NOT NULL DEFAULT false
);

-- `placeholder`: made by the sign-in of a person with an invitation, and not renamed since.
CREATE TABLE membership (
  project_id  text NOT NULL,
  user_id     text NOT NULL,
  role        text NOT NULL,
  placeholder boolean NOT NULL DEFAULT false,
  created_at  timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, user_id),
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT,
  FOREIGN KEY (user_id) REFERENCES app_user (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX membership_user_id_created_at_idx ON membership (user_id, created_at);

-- An invitation to join a project, bound to the e-mail address that it was mailed to.
CREATE TABLE invitation (
  id           text PRIMARY KEY,
  project_id   text NOT NULL,
  email        text NOT NULL,
  role         text NOT NULL,
  token_hash   bytea NOT NULL UNIQUE,
  invited_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  accepted_at  timestamptz(3),
  accepted_by  text,
  withdrawn_at timestamptz(3),
  FOREIGN KEY (project_id) REFERENCES project (id)
);
-- A project has at most one open invitation for an address; an expired one is withdrawn before the
-- next.
CREATE UNIQUE INDEX invitation_open_idx
  ON invitation (project_id, email)
  WHERE accepted_at IS NULL AND withdrawn_at IS NULL;
CREATE INDEX invitation_project_id_created_at_idx ON invitation (project_id, created_at);

-- Nonces of EIP-4361 messages: single use, bound to what they may sign.
CREATE TABLE siwe_nonce (
  nonce      text PRIMARY KEY,
  purpose    text NOT NULL,
  user_id    text,
  project_id text,
  address    text,
  message    text,
  expires_at timestamptz(3) NOT NULL,
  used_at    timestamptz(3)
);
CREATE INDEX siwe_nonce_expires_at_idx ON siwe_nonce (expires_at);
CREATE INDEX siwe_nonce_user_id_address_idx ON siwe_nonce (user_id, address);

CREATE TABLE session (
  id             text PRIMARY KEY,
  user_id        text NOT NULL,
  kind           text NOT NULL,
  refresh_hash   bytea,
  created_at     timestamptz(3) NOT NULL,
  expires_at     timestamptz(3) NOT NULL,
  rotated_at     timestamptz(3),
  previous_hash  bytea,
  rotated_for    bytea,
  revoked_at     timestamptz(3),
  user_agent     text,
  client_address text,
  last_used_at   timestamptz(3),
  FOREIGN KEY (user_id) REFERENCES app_user (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX session_refresh_hash_key ON session (refresh_hash);
CREATE INDEX session_user_id_created_at_idx ON session (user_id, created_at);

-- The authenticator app of a person (RFC 6238). The secret is encrypted with the key-encryption
-- key.
CREATE TABLE totp_factor (
  user_id          text PRIMARY KEY,
  id               text NOT NULL UNIQUE,
  secret_encrypted bytea NOT NULL,
  kek_id           text NOT NULL,
  created_at       timestamptz(3) NOT NULL,
  confirmed_at     timestamptz(3),
  last_step        integer,
  FOREIGN KEY (user_id) REFERENCES app_user (id)
);

-- Codes that replace the authenticator app, each once. Only hashes are stored.
CREATE TABLE recovery_code (
  user_id    text NOT NULL,
  code_hash  bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  used_at    timestamptz(3),
  PRIMARY KEY (user_id, code_hash),
  FOREIGN KEY (user_id) REFERENCES app_user (id)
);

-- A passkey of a person (WebAuthn Level 2).
CREATE TABLE passkey (
  id            text PRIMARY KEY,
  user_id       text NOT NULL,
  credential_id text NOT NULL UNIQUE,
  public_key    bytea NOT NULL,
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  synced        boolean NOT NULL,
  name          text NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  last_used_at  timestamptz(3),
  held_until    timestamptz(3),
  FOREIGN KEY (user_id) REFERENCES app_user (id)
);
CREATE INDEX passkey_user_id_created_at_idx ON passkey (user_id, created_at);

-- A challenge that a passkey signs, once.
CREATE TABLE passkey_challenge (
  challenge   bytea PRIMARY KEY,
  purpose     text NOT NULL,
  user_id     text,
  subject     text,
  digest      bytea,
  approved_by text,
  created_at  timestamptz(3) NOT NULL,
  expires_at  timestamptz(3) NOT NULL,
  used_at     timestamptz(3)
);
CREATE INDEX passkey_challenge_expires_at_idx ON passkey_challenge (expires_at);

-- Signs access tokens. The private part is encrypted with the key-encryption key.
CREATE TABLE token_key (
  kid               text PRIMARY KEY,
  public_jwk        jsonb NOT NULL,
  private_encrypted bytea NOT NULL,
  kek_id            text NOT NULL,
  created_at        timestamptz(3) NOT NULL
);

CREATE TABLE email_code (
  id             text PRIMARY KEY,
  user_id        text NOT NULL,
  email          text NOT NULL,
  code_hash      bytea NOT NULL,
  attempts       integer NOT NULL DEFAULT 0,
  created_at     timestamptz(3) NOT NULL,
  expires_at     timestamptz(3) NOT NULL,
  closed_at      timestamptz(3),
  approval_id    text,
  approved_by    text,
  replaces       text,
  approved_until timestamptz(3),
  FOREIGN KEY (user_id) REFERENCES app_user (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
-- One code at a time may be guessed for a person.
CREATE UNIQUE INDEX email_code_one_open ON email_code (user_id) WHERE closed_at IS NULL;
CREATE INDEX email_code_user_id_created_at_idx ON email_code (user_id, created_at);

-- ------------------------------------------------------------ API keys

CREATE TABLE api_key (
  id                     text PRIMARY KEY,
  project_id             text NOT NULL,
  created_by             text NOT NULL,
  name                   text NOT NULL,
  lookup                 text NOT NULL,
  secret_hash            bytea NOT NULL,
  app_secret_id          text NOT NULL,
  prefix                 text NOT NULL,
  last4                  text NOT NULL,
  scopes                 text[],
  otp_policy             text NOT NULL DEFAULT 'required',
  daily_cap_usd          numeric(38, 6),
  recipients             text[] DEFAULT ARRAY[]::text[],
  networks               text[] DEFAULT ARRAY[]::text[],
  created_at             timestamptz(3) NOT NULL,
  expires_at             timestamptz(3),
  last_used_at           timestamptz(3),
  last_used_address      text,
  previous_lookup        text,
  previous_hash          bytea,
  previous_app_secret_id text,
  previous_last4         text,
  previous_until         timestamptz(3),
  rotated_by             text[] NOT NULL DEFAULT '{}',
  revoked_at             timestamptz(3),
  version                integer NOT NULL DEFAULT 0,
  made_by_session        text,
  suspended_at           timestamptz(3),
  CONSTRAINT api_key_daily_cap_check
    CHECK (daily_cap_usd IS NULL OR (daily_cap_usd >= 0 AND daily_cap_usd <> 'NaN')),
  CONSTRAINT api_key_otp_policy_check
    CHECK (otp_policy = 'required' OR (otp_policy = 'exempt' AND daily_cap_usd IS NOT NULL)),
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX api_key_lookup_key ON api_key (lookup);
CREATE INDEX api_key_made_by_session_idx ON api_key (made_by_session);
CREATE UNIQUE INDEX api_key_previous_lookup_key ON api_key (previous_lookup);
CREATE INDEX api_key_project_id_created_at_idx ON api_key (project_id, created_at);

-- One request that was made with an API key. Written by lib/money/api-requests alone, in SQL.
CREATE TABLE api_request (
  project_id     text NOT NULL,
  id             text NOT NULL,
  key_id         text NOT NULL,
  method         text NOT NULL,
  path           text NOT NULL,
  status         integer NOT NULL,
  code           text,
  duration_ms    double precision NOT NULL,
  client_address text,
  body_sha256    bytea,
  at             timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX api_request_at_idx ON api_request (at);
CREATE INDEX api_request_project_id_key_id_id_idx ON api_request (project_id, key_id, id);

-- US dollars that a key moved on a UTC day without a one-time code.
CREATE TABLE policy_spend (
  api_key_id text NOT NULL,
  day        date NOT NULL,
  spent_usd  numeric(38, 6) NOT NULL,
  PRIMARY KEY (api_key_id, day),
  CONSTRAINT policy_spend_check CHECK (spent_usd >= 0 AND spent_usd <> 'NaN')
);

-- US dollars that all keys of a project together moved on a UTC day without a one-time code.
CREATE TABLE project_spend (
  project_id text NOT NULL,
  day        date NOT NULL,
  spent_usd  numeric(38, 6) NOT NULL CHECK (spent_usd >= 0 AND spent_usd <> 'NaN'),
  PRIMARY KEY (project_id, day)
);

-- A version of a policy. Append-only; the newest version of each subject applies.
CREATE TABLE policy (
  project_id text NOT NULL,
  id         text NOT NULL,
  scope      text NOT NULL CHECK (scope IN ('project', 'wallet', 'key')),
  subject_id text NOT NULL,
  version    integer NOT NULL CHECK (version > 0),
  rules      jsonb NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE UNIQUE INDEX policy_project_id_scope_subject_id_version_key
  ON policy (project_id, scope, subject_id, version);

-- What was moved on a UTC day under a policy's daily caps.
CREATE TABLE policy_usage (
  project_id text NOT NULL,
  scope      text NOT NULL,
  subject_id text NOT NULL,
  day        date NOT NULL,
  unit       text NOT NULL,
  spent      numeric(78, 18) NOT NULL CHECK (spent >= 0 AND spent <> 'NaN'),
  PRIMARY KEY (project_id, scope, subject_id, day, unit)
);

-- An evaluation of the policies that moved or stopped money. Append-only.
CREATE TABLE policy_evaluation (
  project_id   text NOT NULL,
  id           text NOT NULL,
  subject_type text NOT NULL,
  subject_id   text,
  digest       bytea NOT NULL,
  mac          bytea NOT NULL,
  facts        jsonb NOT NULL,
  policies     jsonb NOT NULL,
  rules        jsonb NOT NULL,
  decision     text NOT NULL,
  code         text NOT NULL,
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX policy_evaluation_project_id_subject_id_idx
  ON policy_evaluation (project_id, subject_id);

-- When the project first paid an address.
CREATE TABLE policy_recipient (
  project_id    text NOT NULL,
  address       text NOT NULL,
  first_paid_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, address)
);

-- A change that widens authority and waits for approval by the person who requested it. Single use.
CREATE TABLE approval (
  project_id  text NOT NULL,
  id          text NOT NULL,
  user_id     text NOT NULL,
  kind        text NOT NULL,
  digest      bytea NOT NULL,
  message     text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  expires_at  timestamptz(3) NOT NULL,
  consumed_at timestamptz(3),
  consumed_by text,
  PRIMARY KEY (project_id, id),
  CONSTRAINT approval_consumed_check CHECK (
    (consumed_at IS NULL) = (consumed_by IS NULL)
    AND (
      consumed_by IS NULL
      OR consumed_by IN ('code', 'signature', 'totp', 'recovery_code', 'passkey')
    )
  )
);

-- A payment that people of the project decide by vote. At most one is open for each subject.
CREATE TABLE decision_request (
  project_id     text NOT NULL,
  id             text NOT NULL,
  subject_type   text NOT NULL,
  subject_id     text NOT NULL,
  digest         bytea NOT NULL,
  title          text NOT NULL,
  lines          text[] NOT NULL,
  maker          text NOT NULL,
  maker_user_id  text NOT NULL,
  other_makers   text[] NOT NULL DEFAULT '{}',
  votes_required integer NOT NULL CHECK (votes_required > 0),
  roles          text[] NOT NULL CHECK (cardinality(roles) > 0),
  exclude_maker  boolean NOT NULL,
  state          text NOT NULL
    CHECK (state IN ('open', 'approved', 'declined', 'expired', 'cancelled')),
  created_at     timestamptz(3) NOT NULL,
  expires_at     timestamptz(3) NOT NULL,
  notified_at    timestamptz(3),
  decided_at     timestamptz(3),
  decided_by     text,
  settled_at     timestamptz(3),
  private        boolean NOT NULL DEFAULT false,
  demanded_by    text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id) REFERENCES project (id)
);
CREATE UNIQUE INDEX decision_request_open_idx
  ON decision_request (project_id, subject_type, subject_id)
  WHERE state = 'open';
CREATE INDEX decision_request_project_id_state_idx ON decision_request (project_id, state, id);
CREATE INDEX decision_request_project_id_subject_id_idx
  ON decision_request (project_id, subject_id);

-- One vote for each person and request; never changed.
CREATE TABLE decision_vote (
  project_id text NOT NULL,
  request_id text NOT NULL,
  user_id    text NOT NULL,
  decision   text NOT NULL CHECK (decision IN ('approve', 'decline')),
  reason     text,
  means      text NOT NULL,
  code_id    text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, request_id, user_id),
  FOREIGN KEY (project_id, request_id) REFERENCES decision_request (project_id, id)
);

-- Mail that must be sent once what it reports is committed; a job sends it, and the row goes with
-- the mail.
CREATE TABLE mail_outbox (
  project_id text NOT NULL,
  id         text NOT NULL,
  "to"       text NOT NULL,
  subject    text NOT NULL,
  text       text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);

-- ------------------------------------------------------------ wallets and keys

CREATE TABLE wallet (
  id                text PRIMARY KEY,
  project_id        text NOT NULL,
  kind              text NOT NULL,
  address           text NOT NULL,
  owner_address     text,
  key_id            text,
  label             text,
  user_id           text,
  contract_chain_id integer,
  unlinked_at       timestamptz(3),
  created_at        timestamptz(3) NOT NULL,
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX wallet_address_idx ON wallet (address);
-- The first and last four hex digits of an address, for the search for addresses that look like a
-- recipient. A project may have 100,000 wallets.
CREATE INDEX wallet_ends_idx
  ON wallet (project_id, (lower(substr(address, 3, 4) || right(address, 4))));
CREATE UNIQUE INDEX wallet_project_id_address_key ON wallet (project_id, address);
CREATE INDEX wallet_project_id_created_at_idx ON wallet (project_id, created_at);
-- The addresses that deposits are looked for, which each search reads.
CREATE INDEX wallet_signed_idx
  ON wallet (address)
  WHERE kind IN ('treasury', 'smart_account') AND key_id IS NOT NULL AND unlinked_at IS NULL;

-- Whose wallet an address is, over all projects: one person's at a time.
CREATE TABLE wallet_link (
  address   text PRIMARY KEY,
  user_id   text NOT NULL,
  linked_at timestamptz(3) NOT NULL
);
CREATE INDEX wallet_link_user_id_idx ON wallet_link (user_id);

-- The address book of a project.
CREATE TABLE contact (
  id          text PRIMARY KEY,
  project_id  text NOT NULL,
  name        text NOT NULL,
  address     text NOT NULL,
  created_by  text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  state       text NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'approved')),
  approved_at timestamptz(3),
  approved_by text,
  proposed_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  proposed_by text,
  told_at     timestamptz(3),
  tags        text[] NOT NULL DEFAULT '{}',
  chain_ids   integer[] NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX contact_project_id_address_key ON contact (project_id, address);

-- Memo and tags that people give to an operation or a payout. They change nothing about it.
CREATE TABLE annotation (
  project_id   text NOT NULL,
  subject_type text NOT NULL,
  subject_id   text NOT NULL,
  memo         text NOT NULL,
  tags         text[] NOT NULL,
  updated_by   text NOT NULL,
  updated_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, subject_type, subject_id)
);

-- Balances of a project, at most one row per hour; shown as its history.
CREATE TABLE balance_snapshot (
  project_id text NOT NULL,
  hour       timestamptz(3) NOT NULL,
  taken_at   timestamptz(3) NOT NULL,
  total_usd  numeric(38, 6),
  assets     jsonb NOT NULL,
  PRIMARY KEY (project_id, hour)
);
-- Finds the rows that are swept by age.
CREATE INDEX balance_snapshot_hour_idx ON balance_snapshot (hour);

-- A managed key: AES-256-GCM under a data key of its own, that wrapped by the key-encryption key.
CREATE TABLE managed_key (
  id               text PRIMARY KEY,
  project_id       text,
  address          text NOT NULL,
  ciphertext       bytea NOT NULL,
  wrapped_data_key bytea NOT NULL,
  kek_id           text NOT NULL,
  created_at       timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX managed_key_address_key ON managed_key (address);
CREATE INDEX managed_key_kek_id_id_idx ON managed_key (kek_id, id);

-- ------------------------------------------------------------ quotes and codes

-- A request to move money, with its price: a quote, or a transfer. It becomes an operation at most
-- once.
CREATE TABLE quote (
  id               text PRIMARY KEY,
  project_id       text NOT NULL,
  kind             text NOT NULL
    CHECK (kind IN ('swap', 'transfer', 'swap_and_transfer')),
  transfer_id      text,
  retry_of         text,
  created_by       text NOT NULL,
  status           text NOT NULL CHECK (status IN ('open', 'prepared', 'used', 'cancelled')),
  request          jsonb NOT NULL,
  route            jsonb NOT NULL,
  response         jsonb NOT NULL,
  minimum_base     numeric(78, 0) NOT NULL CHECK (minimum_base BETWEEN 0 AND 2::numeric ^ 256 - 1),
  digest           bytea NOT NULL,
  created_at       timestamptz(3) NOT NULL,
  expires_at       timestamptz(3) NOT NULL,
  code_sent_at     timestamptz(3),
  approved_at      timestamptz(3),
  approved_by      text,
  approval_code_id text,
  approval_means   text,
  prepared_until   timestamptz(3),
  prepared         jsonb,
  operation_id     text,
  idempotency_key  text,
  request_digest   bytea,
  CONSTRAINT quote_request_digest_check
    CHECK ((idempotency_key IS NULL) = (request_digest IS NULL)),
  CONSTRAINT quote_transfer_check CHECK ((kind = 'transfer') = (transfer_id IS NOT NULL)),
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
-- Finds the rows that are swept by age.
CREATE INDEX quote_never_executed ON quote (expires_at) WHERE operation_id IS NULL;
CREATE UNIQUE INDEX quote_operation_id_key ON quote (operation_id);
CREATE INDEX quote_project_id_created_at_idx ON quote (project_id, created_at);
-- An Idempotency-Key belongs to the caller that sent it, not to the project.
CREATE UNIQUE INDEX quote_project_id_kind_created_by_idempotency_key_key
  ON quote (project_id, kind, created_by, idempotency_key);
CREATE INDEX quote_project_id_transfer_id_idx ON quote (project_id, transfer_id);
CREATE UNIQUE INDEX quote_transfer_id_key ON quote (transfer_id);

CREATE TABLE otp (
  id           text PRIMARY KEY,
  project_id   text NOT NULL,
  user_id      text NOT NULL,
  requested_by text NOT NULL,
  subject_id   text NOT NULL,
  digest       bytea NOT NULL,
  channel      text NOT NULL,
  destination  text NOT NULL,
  code_hash    bytea NOT NULL,
  attempts     integer NOT NULL DEFAULT 0,
  created_at   timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  resend_after timestamptz(3) NOT NULL,
  closed_at    timestamptz(3),
  closed_as    text
);
-- Finds the rows that are swept by age.
CREATE INDEX otp_expires_at_idx ON otp (expires_at);
-- One open code for each subject and requester, so that nobody's request replaces somebody else's
-- code.
CREATE UNIQUE INDEX otp_one_open
  ON otp (project_id, subject_id, requested_by)
  WHERE closed_at IS NULL;
CREATE INDEX otp_project_id_subject_id_created_at_idx ON otp (project_id, subject_id, created_at);

-- ------------------------------------------------------------ operations

CREATE TABLE operation (
  id            text PRIMARY KEY,
  project_id    text NOT NULL,
  kind          text NOT NULL,
  status        text NOT NULL CHECK (
    status IN (
      'pending', 'processing', 'completed', 'partially_completed', 'failed', 'refunded', 'expired',
      'cancelled'
    )
  ),
  sub_status    text NOT NULL,
  request       jsonb NOT NULL,
  quoted        jsonb NOT NULL,
  minimum_base  numeric(78, 0) NOT NULL CHECK (minimum_base BETWEEN 0 AND 2::numeric ^ 256 - 1),
  failure       jsonb,
  version       integer NOT NULL DEFAULT 0,
  created_by    text NOT NULL,
  search_terms  text[],
  retry_of      text,
  accepted_at   timestamptz(3),
  retried_by    text,
  gas_waits     jsonb,
  created_at    timestamptz(3) NOT NULL,
  updated_at    timestamptz(3) NOT NULL,
  expires_at    timestamptz(3),
  evaluation_id text,
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX operation_awaiting
  ON operation (expires_at)
  WHERE status = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX operation_project_id_created_at_idx ON operation (project_id, created_at);
CREATE INDEX operation_project_id_id_idx ON operation (project_id, id);
CREATE INDEX operation_project_id_status_id_idx ON operation (project_id, status, id);
CREATE UNIQUE INDEX operation_retried_by_key ON operation (retried_by);
CREATE INDEX operation_search_terms_idx ON operation USING gin (search_terms);

-- The way of one source to the destination. A sponsor's reservation belongs to its leg: it is open
-- as long as the leg is.
CREATE TABLE operation_leg (
  project_id             text NOT NULL,
  id                     text PRIMARY KEY,
  operation_id           text NOT NULL,
  position               integer NOT NULL,
  wallet_id              text NOT NULL,
  wallet_address         text NOT NULL,
  kind                   text NOT NULL,
  source_chain_id        integer NOT NULL,
  dest_chain_id          integer NOT NULL,
  state                  text NOT NULL CHECK (
    state IN (
      'queued', 'submitted', 'source_seen', 'bridging', 'filled_seen', 'refunding', 'refund_seen',
      'needs_attention', 'completed', 'failed', 'refunded'
    )
  ),
  route_leg              jsonb NOT NULL,
  amount_base            numeric(78, 0) NOT NULL,
  spent_base             numeric(78, 0),
  received_base          numeric(78, 0),
  fill_deadline          timestamptz(3),
  via                    text NOT NULL CHECK (via IN ('user_operation', 'transaction', 'permit')),
  executor_wallet_id     text,
  wallet_transactions    jsonb,
  permit                 jsonb,
  user_op_hash           text,
  earlier_user_op_hashes text[] NOT NULL DEFAULT '{}',
  user_operation         jsonb,
  gas                    jsonb NOT NULL,
  valid_until            timestamptz(3),
  from_block             bigint NOT NULL,
  source_tx_hash         text,
  source_block           bigint,
  source_confirmations   integer NOT NULL DEFAULT 0,
  gas_cost_wei           numeric(78, 0),
  gas_paid_by            text,
  deposit                jsonb,
  deposited_base         numeric(78, 0)
    CHECK (deposited_base IS NULL OR deposited_base BETWEEN 0 AND 2::numeric ^ 256 - 1),
  dest_tx_hash           text,
  dest_block             bigint,
  dest_confirmations     integer NOT NULL DEFAULT 0,
  refund_tx_hash         text,
  refund_block           bigint,
  refunded_base          numeric(78, 0),
  refund_token           jsonb,
  refund_attention       jsonb,
  failure                jsonb,
  sponsor_reserved_wei   numeric(78, 0),
  sponsor_day            date,
  version                integer NOT NULL DEFAULT 0,
  updated_at             timestamptz(3) NOT NULL,
  CONSTRAINT operation_leg_amounts_check CHECK (
    amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1
    AND (spent_base IS NULL OR spent_base BETWEEN 0 AND 2::numeric ^ 256 - 1)
    AND (received_base IS NULL OR received_base BETWEEN 0 AND 2::numeric ^ 256 - 1)
    AND (refunded_base IS NULL OR refunded_base BETWEEN 0 AND 2::numeric ^ 256 - 1)
  ),
  CONSTRAINT operation_leg_gas_check CHECK (
    (gas_cost_wei IS NULL) = (gas_paid_by IS NULL)
    AND gas_cost_wei >= 0
    AND gas_paid_by IN ('sponsor', 'wallet')
  ),
  CONSTRAINT operation_leg_sponsor_check CHECK (
    (sponsor_reserved_wei IS NULL) = (sponsor_day IS NULL)
    AND (sponsor_reserved_wei IS NULL OR sponsor_reserved_wei BETWEEN 0 AND 2::numeric ^ 256 - 1)
  ),
  FOREIGN KEY (operation_id) REFERENCES operation (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
-- Arrivals by block, for the comparison of coins.
CREATE INDEX operation_leg_arrival_idx
  ON operation_leg (dest_chain_id, (coalesce(dest_block, source_block)));
CREATE INDEX operation_leg_dest_tx_hash_idx ON operation_leg (dest_tx_hash);
CREATE UNIQUE INDEX operation_leg_operation_id_position_key
  ON operation_leg (operation_id, position);
-- Refunds by block, for the comparison of coins.
CREATE INDEX operation_leg_refund_idx
  ON operation_leg (source_chain_id, refund_block)
  WHERE refund_block IS NOT NULL;
CREATE INDEX operation_leg_refund_tx_hash_idx ON operation_leg (refund_tx_hash);
CREATE INDEX operation_leg_source_tx_hash_idx ON operation_leg (source_tx_hash);
CREATE UNIQUE INDEX operation_leg_user_op_hash_key ON operation_leg (user_op_hash);
-- Spendings in blocks after the final one, which each accepted operation sums.
CREATE INDEX operation_leg_wallet_address_source_chain_id_source_block_idx
  ON operation_leg (wallet_address, source_chain_id, source_block);
-- A wallet's own transaction carries one leg at most.
CREATE UNIQUE INDEX operation_leg_wallet_transaction
  ON operation_leg (source_chain_id, source_tx_hash)
  WHERE via = 'transaction';

-- A transfer on chain that refunds one or more deposits. Legs may claim no more of it than it paid.
CREATE TABLE refund_payment (
  chain_id     integer NOT NULL,
  tx_hash      text NOT NULL,
  log_index    integer NOT NULL,
  paid_base    numeric(78, 0) NOT NULL CHECK (paid_base BETWEEN 1 AND 2::numeric ^ 256 - 1),
  claimed_base numeric(78, 0) NOT NULL,
  PRIMARY KEY (chain_id, tx_hash, log_index),
  CONSTRAINT refund_payment_claimed_check CHECK (claimed_base BETWEEN 0 AND paid_base)
);

-- The part of a payment that is the refund of one leg's deposit.
CREATE TABLE refund_claim (
  leg_id      text PRIMARY KEY,
  chain_id    integer NOT NULL,
  tx_hash     text NOT NULL,
  log_index   integer NOT NULL,
  amount_base numeric(78, 0) NOT NULL CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1),
  decided_by  text,
  created_at  timestamptz(3) NOT NULL,
  FOREIGN KEY (leg_id) REFERENCES operation_leg (id),
  CONSTRAINT refund_claim_payment_fkey
    FOREIGN KEY (chain_id, tx_hash, log_index)
    REFERENCES refund_payment (chain_id, tx_hash, log_index)
);
CREATE INDEX refund_claim_chain_id_tx_hash_log_index_idx
  ON refund_claim (chain_id, tx_hash, log_index);

-- Transactions that linked wallets sent. Each counts for one action of one leg.
CREATE TABLE wallet_transaction (
  chain_id  integer NOT NULL,
  hash      text NOT NULL,
  leg_id    text NOT NULL,
  action_id text NOT NULL,
  PRIMARY KEY (chain_id, hash)
);
CREATE INDEX wallet_transaction_leg_id_idx ON wallet_transaction (leg_id);

-- Append-only; shown by the timeline and the event stream.
CREATE TABLE operation_event (
  project_id   text NOT NULL,
  operation_id text NOT NULL,
  seq          integer NOT NULL,
  type         text NOT NULL,
  data         jsonb NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (operation_id, seq),
  FOREIGN KEY (operation_id) REFERENCES operation (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);

-- Money of a wallet that an accepted operation will spend, and that is not yet spent on chain.
-- `operation_id` has no foreign key, because a payout holds money as an operation does.
CREATE TABLE balance_hold (
  id               text PRIMARY KEY,
  operation_id     text NOT NULL,
  wallet_address   text NOT NULL,
  project_id       text NOT NULL,
  chain_id         integer NOT NULL,
  token            text NOT NULL,
  amount_base      numeric(78, 0) NOT NULL,
  created_at       timestamptz(3) NOT NULL,
  released_at      timestamptz(3),
  released_version integer,
  CONSTRAINT balance_hold_amount_check CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1)
);
-- Every accepted operation sums the holds of its balances under their locks. These indexes find the
-- few rows that count, however long the history of the wallet is; an index over all holds of a
-- balance would invite reading its whole history.
CREATE INDEX balance_hold_active
  ON balance_hold (wallet_address, chain_id, token)
  WHERE released_at IS NULL;
-- Holds that were released after a balance was read.
CREATE INDEX balance_hold_released
  ON balance_hold (wallet_address, chain_id, token, released_version)
  WHERE released_at IS NOT NULL;
-- Open holds of a wallet, and those that were released lately.
CREATE INDEX balance_hold_wallet_address_released_at_idx
  ON balance_hold (wallet_address, released_at);

-- Counts releases of holds: a balance that was read before a release must not be compared with the
-- holds after it.
CREATE TABLE balance_guard (
  wallet_address text NOT NULL,
  chain_id       integer NOT NULL,
  token          text NOT NULL,
  version        integer NOT NULL DEFAULT 0,
  PRIMARY KEY (wallet_address, chain_id, token)
);

-- The newest known balance of a treasury at a final block. It covers what accounts hold already
-- while the chain does not answer.
CREATE TABLE reserve_reading (
  wallet_address text NOT NULL,
  chain_id       integer NOT NULL,
  token          text NOT NULL,
  balance_base   numeric(78, 0) NOT NULL CHECK (balance_base >= 0 AND balance_base <> 'NaN'),
  block_number   bigint NOT NULL,
  read_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (wallet_address, chain_id, token)
);

-- Limits that the operator sets for one project on one chain; null: the limits of the chain's
-- configuration.
CREATE TABLE sponsor_budget (
  project_id        text NOT NULL,
  chain_id          integer NOT NULL,
  daily_wei         numeric(78, 0),
  operation_wei     numeric(78, 0),
  own_daily_wei     numeric(78, 0),
  own_operation_wei numeric(78, 0),
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, chain_id),
  CONSTRAINT sponsor_budget_limits_check CHECK (
    (daily_wei IS NULL OR daily_wei BETWEEN 0 AND 2::numeric ^ 256 - 1)
    AND (operation_wei IS NULL OR operation_wei BETWEEN 0 AND 2::numeric ^ 256 - 1)
  ),
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);

-- The sponsor's costs for a project, by the UTC day on which its operations were accepted.
-- `reserved` is the sum over open legs.
CREATE TABLE sponsor_usage (
  project_id   text NOT NULL,
  chain_id     integer NOT NULL,
  day          date NOT NULL,
  reserved_wei numeric(78, 0) NOT NULL,
  used_wei     numeric(78, 0) NOT NULL,
  PRIMARY KEY (project_id, chain_id, day),
  CONSTRAINT sponsor_usage_amounts_check CHECK (
    reserved_wei BETWEEN 0 AND 2::numeric ^ 256 - 1
    AND used_wei BETWEEN 0 AND 2::numeric ^ 256 - 1
  ),
  FOREIGN KEY (project_id) REFERENCES project (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
-- The last days over all projects, which are a metric.
CREATE INDEX sponsor_usage_day_idx ON sponsor_usage (day);

-- Which leg's user operation deploys an account that is still counterfactual; the others wait for
-- it.
CREATE TABLE account_deployment (
  chain_id   integer NOT NULL,
  address    text NOT NULL,
  leg_id     text NOT NULL,
  claimed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id, address)
);

-- ------------------------------------------------------------ the service's own transactions

CREATE TABLE signer_nonce (
  address  text NOT NULL,
  chain_id integer NOT NULL,
  next     bigint NOT NULL,
  PRIMARY KEY (address, chain_id)
);

-- A transaction of the service's own, stored with its signed bytes before it is broadcast.
CREATE TABLE chain_transaction (
  id                       text PRIMARY KEY,
  chain_id                 integer NOT NULL,
  from_address             text NOT NULL,
  nonce                    bigint NOT NULL,
  purpose                  text NOT NULL,
  "to"                     text NOT NULL,
  data                     text NOT NULL,
  value                    numeric(78, 0) NOT NULL CHECK (value BETWEEN 0 AND 2::numeric ^ 256 - 1),
  gas                      bigint NOT NULL,
  max_fee_per_gas          numeric(78, 0) NOT NULL,
  max_priority_fee_per_gas numeric(78, 0) NOT NULL,
  raw                      text NOT NULL,
  hash                     text NOT NULL,
  replaced_hashes          text[],
  status                   text NOT NULL,
  mined_hash               text,
  block_number             bigint,
  created_at               timestamptz(3) NOT NULL,
  broadcast_at             timestamptz(3),
  updated_at               timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX chain_transaction_chain_id_purpose_key ON chain_transaction (chain_id, purpose);
CREATE UNIQUE INDEX chain_transaction_from_address_chain_id_nonce_key
  ON chain_transaction (from_address, chain_id, nonce);
CREATE UNIQUE INDEX chain_transaction_hash_key ON chain_transaction (hash);
-- Finds the rows that are swept by age.
CREATE INDEX chain_transaction_raw_kept
  ON chain_transaction (updated_at)
  WHERE status = 'final' AND raw <> '';
CREATE INDEX chain_transaction_status_chain_id_idx ON chain_transaction (status, chain_id);
-- Transactions whose network fees EntryPoint does not give back; their recent gas is a metric.
CREATE INDEX chain_transaction_unrefunded_idx
  ON chain_transaction (created_at)
  WHERE purpose NOT LIKE 'bundle:%';

-- A user operation that an external bundler has, or that waits until it may have it; it takes four
-- of one sender (ERC-7562).
CREATE TABLE bundler_queue (
  chain_id     integer NOT NULL,
  user_op_hash text NOT NULL,
  sender       text NOT NULL,
  place        bigint GENERATED ALWAYS AS IDENTITY,
  valid_until  timestamptz(3) NOT NULL,
  admitted_at  timestamptz(3),
  PRIMARY KEY (chain_id, user_op_hash)
);
CREATE INDEX bundler_queue_chain_id_sender_place_idx ON bundler_queue (chain_id, sender, place);

-- The bundle of a user operation: one at a time, so that no bundle reverts because another one
-- executed the operation.
CREATE TABLE bundle_operation (
  chain_id       integer NOT NULL,
  user_op_hash   text NOT NULL,
  transaction_id text NOT NULL,
  attempts       integer NOT NULL DEFAULT 1 CHECK (attempts > 0),
  PRIMARY KEY (chain_id, user_op_hash),
  FOREIGN KEY (transaction_id) REFERENCES chain_transaction (id)
    ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX bundle_operation_transaction_id_idx ON bundle_operation (transaction_id);

-- ------------------------------------------------------------ machinery

-- A job for a worker. It belongs to the holder of its lease; the lease of a dead holder expires.
CREATE TABLE job (
  id           text PRIMARY KEY,
  queue        text NOT NULL,
  run_at       timestamptz(3) NOT NULL,
  locked_by    text,
  locked_until timestamptz(3),
  attempts     integer NOT NULL DEFAULT 0,
  last_error   text,
  failures     integer NOT NULL DEFAULT 0,
  parked_at    timestamptz(3),
  traceparent  text
);
-- Parked jobs are looked for again and again while somebody has an inbox open.
CREATE INDEX job_parked_idx ON job (id) WHERE parked_at IS NOT NULL;
CREATE INDEX job_run_at_idx ON job (run_at);

CREATE TABLE idempotency_key (
  project_id   text NOT NULL,
  actor        text NOT NULL,
  route        text NOT NULL,
  key          text NOT NULL,
  digest       bytea NOT NULL,
  status       text NOT NULL,
  response     jsonb,
  created_at   timestamptz(3) NOT NULL,
  locked_until timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  instance_id  text,
  PRIMARY KEY (project_id, actor, route, key)
);
CREATE INDEX idempotency_key_expires_at_idx ON idempotency_key (expires_at);

-- A process of the service. It updates its row every two seconds. Small and written often, so its
-- pages keep room.
CREATE TABLE instance (
  id             text PRIMARY KEY,
  works          boolean NOT NULL,
  beats          bigint NOT NULL,
  clock_ahead_ms double precision NOT NULL,
  started_at     timestamptz(3) NOT NULL,
  beat_at        timestamptz(3) NOT NULL
) WITH (fillfactor = 50);

-- The newest block of a chain, which one instance reads for all.
CREATE TABLE chain_head (
  chain_id     integer PRIMARY KEY,
  asker        text NOT NULL,
  asking_until timestamptz(3),
  number       numeric(78, 0),
  timestamp    numeric(78, 0),
  read_at      timestamptz(3)
);

-- When a periodic task of the whole installation may run next.
CREATE TABLE periodic_task (
  name   text PRIMARY KEY,
  due_at timestamptz(3) NOT NULL
);

-- The newest backup of each kind that the operator reported as complete. Its age is a metric.
CREATE TABLE backup_record (
  kind     text PRIMARY KEY,
  ended_at timestamptz(3) NOT NULL
);

-- Requests that all instances together may still send to the nodes of a chain (RPC_BUDGET_<id>).
-- Unlogged: after a crash of the server it begins full again.
CREATE UNLOGGED TABLE rpc_budget (
  chain_id    integer PRIMARY KEY,
  requests    double precision NOT NULL,
  granted     integer NOT NULL,
  refilled_at timestamptz(6) NOT NULL
);

-- Requests of a minute, by bucket. Each request waits for its number, so the number must not wait
-- for the disk. Unlogged: after a crash of the server the counts of the current minute are gone.
CREATE UNLOGGED TABLE rate_window (
  bucket       text NOT NULL,
  window_start timestamptz(3) NOT NULL,
  count        integer NOT NULL,
  PRIMARY KEY (bucket, window_start)
);
CREATE INDEX rate_window_window_start_idx ON rate_window (window_start);

-- One row for each mailed code and each wrong guess, per bucket that it counts in. Only the last
-- hour counts.
CREATE TABLE code_limit (
  bucket text NOT NULL,
  at     timestamptz(3) NOT NULL,
  id     text NOT NULL,
  PRIMARY KEY (bucket, at, id)
);
CREATE INDEX code_limit_at_idx ON code_limit (at);

-- Mails shown by the development inbox. Empty in production.
CREATE TABLE dev_mail (
  id         text PRIMARY KEY,
  "to"       text NOT NULL,
  subject    text NOT NULL,
  text       text NOT NULL,
  code       text,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX dev_mail_to_created_at_idx ON dev_mail ("to", created_at);

-- The audit log: who did which action. Append-only.
CREATE TABLE audit_event (
  id             text PRIMARY KEY,
  project_id     text,
  actor          text NOT NULL,
  action         text NOT NULL,
  subject        text,
  data           jsonb NOT NULL,
  request_id     text,
  client_address text,
  created_at     timestamptz(3) NOT NULL
);
CREATE INDEX audit_event_project_id_action_id_idx ON audit_event (project_id, action, id);
CREATE INDEX audit_event_project_id_actor_id_idx ON audit_event (project_id, actor, id);
CREATE INDEX audit_event_project_id_id_idx ON audit_event (project_id, id);
CREATE INDEX audit_event_project_id_subject_id_idx ON audit_event (project_id, subject, id);

-- The place of an audit row in the chain of its project. Rows are linked a moment after their
-- transaction has committed, so that no transaction that moves money waits for another one's place
-- in the chain.
CREATE TABLE audit_link (
  chain    text NOT NULL,
  seq      bigint NOT NULL CHECK (seq > 0),
  event_id text NOT NULL,
  hash     bytea NOT NULL,
  PRIMARY KEY (chain, seq)
);
CREATE UNIQUE INDEX audit_link_event_id_key ON audit_link (event_id);

-- The last link of each chain.
CREATE TABLE audit_head (
  chain      text PRIMARY KEY,
  seq        bigint NOT NULL,
  hash       bytea NOT NULL,
  mac        bytea NOT NULL,
  key_id     text NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  sealed_seq bigint NOT NULL DEFAULT 0
);
-- Finds the heads that a seal has to name. `sealed_seq` proves nothing: a wrong value leaves a head
-- out of the seals, which `npm run audit:verify` reports.
CREATE INDEX audit_head_unsealed ON audit_head (chain) WHERE seq <> sealed_seq;

-- One head over the chains of all projects. Append-only.
CREATE TABLE audit_seal (
  number   bigint PRIMARY KEY CHECK (number > 0),
  at       timestamptz(3) NOT NULL,
  previous bytea NOT NULL,
  root     bytea NOT NULL,
  hash     bytea NOT NULL,
  mac      bytea NOT NULL,
  key_id   text NOT NULL
);

-- The end of a chain that had grown since the seal before. Append-only.
CREATE TABLE audit_seal_head (
  number bigint NOT NULL,
  chain  text NOT NULL,
  seq    bigint NOT NULL,
  hash   bytea NOT NULL,
  PRIMARY KEY (number, chain)
);

-- A seal on a blockchain, one for each day. Append-only.
CREATE TABLE audit_anchor (
  chain_id     integer NOT NULL,
  day          text NOT NULL,
  seal_number  bigint NOT NULL,
  tx_hash      text NOT NULL,
  block_number bigint NOT NULL,
  block_at     timestamptz(3) NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id, day)
);

-- Audit rows that wait for their place in a chain.
CREATE TABLE audit_unlinked (
  event_id text PRIMARY KEY
);

-- ------------------------------------------------------------ ledger

-- An account of one currency. `balance` is the sum of its entries. Each page keeps room
-- (fillfactor), so that a new balance is written beside the old one and no index changes.
CREATE TABLE ledger_account (
  id            uuid PRIMARY KEY,
  project_id    text NOT NULL,
  currency      text NOT NULL,
  kind          text NOT NULL,
  name          text,
  status        text NOT NULL CHECK (status IN ('active', 'frozen', 'closed')),
  status_reason text,
  minimum       numeric(78, 0),
  balance       numeric(78, 0) NOT NULL DEFAULT 0
    CHECK (balance BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1),
  held          numeric(78, 0) NOT NULL DEFAULT 0 CHECK (held BETWEEN 0 AND 2::numeric ^ 256 - 1),
  version       bigint NOT NULL DEFAULT 0,
  last_seq      bigint NOT NULL DEFAULT 0,
  created_at    timestamptz(3) NOT NULL,
  updated_at    timestamptz(3) NOT NULL,
  CONSTRAINT ledger_account_counts_check CHECK (version >= last_seq AND last_seq >= 0),
  -- Customers' accounts are bounded; the system side shows what is owed to them, negated.
  CONSTRAINT ledger_account_kind_check CHECK (
    (kind IN ('customer', 'withdrawal_transit') AND minimum IS NOT NULL)
    OR (kind IN ('treasury_reserve', 'external') AND minimum IS NULL)
  ),
  CONSTRAINT ledger_account_minimum_check CHECK (balance - held >= minimum AND minimum <> 'NaN')
) WITH (fillfactor = 50);
-- A payout asks which of its project's accounts cannot be paid. Few are frozen or closed.
CREATE INDEX ledger_account_not_active_idx
  ON ledger_account (project_id)
  WHERE kind = 'customer' AND status <> 'active';
CREATE UNIQUE INDEX ledger_account_one_system
  ON ledger_account (project_id, currency, kind)
  WHERE kind <> 'customer';
CREATE INDEX ledger_account_project_id_kind_id_idx ON ledger_account (project_id, kind, id);

-- A command that was decided, with its idempotency key. Append-only.
CREATE TABLE ledger_transaction (
  id              uuid PRIMARY KEY,
  project_id      text NOT NULL,
  kind            text NOT NULL CHECK (
    kind IN (
      'open', 'transfer', 'batch', 'fund', 'hold', 'post', 'void', 'expire', 'reverse', 'withdraw',
      'settle'
    )
  ),
  scope           text NOT NULL,
  idempotency_key text NOT NULL,
  key_hash        uuid NOT NULL,
  request_digest  bytea NOT NULL,
  reverses_id     uuid,
  rejection       jsonb,
  data            jsonb,
  created_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  -- A rejected reversal reverses nothing.
  CONSTRAINT ledger_transaction_reverses_check
    CHECK ((reverses_id IS NOT NULL) = (kind = 'reverse' AND rejection IS NULL))
);
-- The fundings of a project's accounts and their reversals, newest first. Payments between
-- accounts, of which there are many more, are not in it.
CREATE INDEX ledger_transaction_funding_idx
  ON ledger_transaction (project_id, id DESC)
  WHERE kind IN ('fund', 'reverse') AND rejection IS NULL;
CREATE UNIQUE INDEX ledger_transaction_key_hash_key ON ledger_transaction (key_hash);
-- A transaction is reversed once at most.
CREATE UNIQUE INDEX ledger_transaction_reverses_id_key
  ON ledger_transaction (reverses_id)
  WHERE reverses_id IS NOT NULL;

-- One side of a transaction on one account. Append-only.
CREATE TABLE ledger_entry (
  project_id     text NOT NULL,
  account_id     uuid NOT NULL,
  seq            bigint NOT NULL CHECK (seq > 0),
  transaction_id uuid NOT NULL,
  currency       text NOT NULL,
  amount         numeric(78, 0) NOT NULL
    CHECK (amount BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1 AND amount <> 0),
  balance_after  numeric(78, 0) NOT NULL
    CHECK (balance_after BETWEEN 1 - 2::numeric ^ 256 AND 2::numeric ^ 256 - 1),
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (account_id, seq)
);
CREATE INDEX ledger_entry_transaction_id_idx ON ledger_entry (transaction_id);

-- ------------------------------------------------------------ payouts

-- Many payments accepted as one.
CREATE TABLE payout (
  id                text PRIMARY KEY,
  project_id        text NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('global_accounts', 'wallets')),
  mode              text NOT NULL CHECK (mode IN ('atomic', 'independent')),
  status            text NOT NULL CHECK (
    status IN (
      'pending', 'processing', 'completed', 'partially_completed', 'failed', 'expired', 'cancelled'
    )
  ),
  sub_status        text NOT NULL,
  source_account_id text,
  currency          text,
  reference         text,
  total_base        numeric(78, 0) NOT NULL,
  paid_base         numeric(78, 0) NOT NULL DEFAULT 0,
  failed_base       numeric(78, 0) NOT NULL DEFAULT 0,
  items_total       integer NOT NULL,
  items_completed   integer NOT NULL DEFAULT 0,
  items_failed      integer NOT NULL DEFAULT 0,
  digest            bytea NOT NULL,
  idempotency_key   text,
  failure           jsonb,
  retry_of          text,
  created_by        text NOT NULL,
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  expires_at        timestamptz(3),
  evaluation_id     text,
  -- A payout to wallets that no account funds has amounts of many tokens, and so no total.
  CONSTRAINT payout_amounts_check CHECK (
    CASE
      WHEN source_account_id IS NULL THEN
        kind = 'wallets' AND total_base = 0 AND paid_base = 0
        AND currency IS NULL AND mode = 'independent'
      ELSE
        total_base BETWEEN 1 AND 2::numeric ^ 256 - 1 AND paid_base BETWEEN 0 AND total_base
        AND currency IS NOT NULL
        AND (
          kind <> 'wallets'
          OR (mode = 'independent' AND failed_base BETWEEN 0 AND total_base - paid_base)
        )
    END
  ),
  CONSTRAINT payout_items_check CHECK (
    items_total > 0 AND items_completed >= 0 AND items_failed >= 0
    AND items_completed + items_failed <= items_total
  )
);
-- Open payouts by the account that they draw on, for its pending balance.
CREATE INDEX payout_open_by_source
  ON payout (project_id, source_account_id)
  WHERE source_account_id IS NOT NULL AND status IN ('pending', 'processing');
CREATE INDEX payout_project_id_id_idx ON payout (project_id, id);
CREATE UNIQUE INDEX payout_project_id_kind_created_by_idempotency_key_key
  ON payout (project_id, kind, created_by, idempotency_key);
-- Failed rows are tried again once; a retry that never ran does not count.
CREATE UNIQUE INDEX payout_retry_of_key
  ON payout (retry_of)
  WHERE status NOT IN ('cancelled', 'expired');
CREATE INDEX payout_waiting ON payout (expires_at) WHERE status = 'pending';

-- The requested rows of a payout, up to 1,000 per database row. Never changed.
CREATE TABLE payout_rows (
  project_id  text NOT NULL,
  payout_id   text NOT NULL,
  first_index integer NOT NULL CHECK (first_index >= 0 AND first_index % 1000 = 0),
  rows        json NOT NULL,
  PRIMARY KEY (payout_id, first_index)
);
-- Compressing a thousand rows took twice as long as all else of storing them.
ALTER TABLE payout_rows ALTER COLUMN rows SET STORAGE EXTERNAL;

-- The outcome of one payment of an independent payout. Payments of an atomic payout have the
-- payout's outcome.
CREATE TABLE payout_item (
  project_id     text NOT NULL,
  payout_id      text NOT NULL,
  index          integer NOT NULL,
  status         text NOT NULL CHECK (status IN ('completed', 'failed')),
  transaction_id text,
  failure        jsonb,
  PRIMARY KEY (payout_id, index)
);

-- Additional data of a payout to wallets, which the treasury's smart account pays on one chain.
CREATE TABLE wallet_payout (
  project_id     text NOT NULL,
  payout_id      text NOT NULL,
  chain_id       integer NOT NULL,
  from_wallet_id text NOT NULL,
  from_address   text NOT NULL,
  totals         jsonb NOT NULL,
  warnings       jsonb NOT NULL,
  fee_wei        numeric(78, 0) NOT NULL,
  fee_paid_by    text NOT NULL,
  fund_from      jsonb,
  funding        jsonb,
  funded_by      text,
  schedule_id    text,
  asked_by       text NOT NULL,
  gas_waits      jsonb,
  PRIMARY KEY (project_id, payout_id)
);

-- One payment of a payout to wallets. Its status is that of its batch, unless it has one of its
-- own.
CREATE TABLE wallet_payout_item (
  project_id  text NOT NULL,
  payout_id   text NOT NULL,
  index       integer NOT NULL,
  recipient   text NOT NULL,
  token       text NOT NULL,
  amount_base numeric(78, 0) NOT NULL,
  reference   text,
  note        text,
  batch       integer NOT NULL,
  status      text CHECK (status IN ('failed', 'cancelled')),
  failure     jsonb,
  PRIMARY KEY (project_id, payout_id, index),
  CONSTRAINT wallet_payout_item_amount_check CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1)
);

-- Rows that one user operation pays, all or none. A batch keeps its rows. Each attempt has its own
-- nonce key, and the next one begins only when the previous one can no longer be executed.
CREATE TABLE wallet_payout_batch (
  project_id           text NOT NULL,
  payout_id            text NOT NULL,
  number               integer NOT NULL,
  wallet_address       text NOT NULL,
  chain_id             integer NOT NULL,
  token                text NOT NULL,
  rows                 integer NOT NULL,
  amount_base          numeric(78, 0) NOT NULL,
  state                text NOT NULL
    CHECK (state IN ('queued', 'signed', 'sent', 'mined', 'paid', 'failed', 'cancelled')),
  in_doubt             boolean NOT NULL DEFAULT false,
  attempt              integer NOT NULL DEFAULT 0,
  user_operation       jsonb,
  user_op_hash         text,
  valid_until          timestamptz(3),
  from_block           numeric(78, 0),
  tx_hash              text,
  block_number         numeric(78, 0),
  confirmations        integer NOT NULL DEFAULT 0,
  gas_cost_wei         numeric(78, 0) NOT NULL DEFAULT 0,
  former_gas_wei       numeric(78, 0) NOT NULL DEFAULT 0,
  blocked_since        timestamptz(3),
  sponsor_reserved_wei numeric(78, 0),
  sponsor_day          date,
  failure              jsonb,
  version              integer NOT NULL DEFAULT 0,
  updated_at           timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, payout_id, number),
  CONSTRAINT wallet_payout_batch_rows_check CHECK (rows >= 0 AND amount_base >= 0)
);
-- Tells whether a transfer into a wallet is a payout of the project's own.
CREATE INDEX wallet_payout_batch_tx_hash_idx ON wallet_payout_batch (tx_hash);
-- A bundler's callback names only the user operation, and neither the project nor the payout.
CREATE INDEX wallet_payout_batch_user_op_hash_idx ON wallet_payout_batch (user_op_hash);
-- Spendings in blocks after the final one, which each accepted operation sums.
CREATE INDEX wallet_payout_batch_wallet_address_chain_id_block_number_idx
  ON wallet_payout_batch (wallet_address, chain_id, block_number);
-- Batches in doubt over all projects, which are a metric.
CREATE INDEX wallet_payout_batch_doubt_idx
  ON wallet_payout_batch (payout_id)
  WHERE state = 'failed' AND failure ->> 'code' = 'source_replaced';

-- Rows to pay once at a time, or periodically. Each run is a payout of its own.
CREATE TABLE payout_schedule (
  project_id      text NOT NULL,
  id              text NOT NULL,
  status          text NOT NULL
    CHECK (status IN ('awaiting_approval', 'active', 'ended', 'cancelled')),
  chain_id        integer NOT NULL,
  wallet_id       text NOT NULL,
  request         jsonb NOT NULL,
  totals          jsonb NOT NULL,
  warnings        jsonb NOT NULL,
  rows            integer NOT NULL,
  reference       text,
  starts_at       timestamptz(3) NOT NULL,
  period          text CHECK (period IN ('day', 'week', 'month')),
  time_zone       text NOT NULL,
  ends_at         timestamptz(3),
  next_run_at     timestamptz(3),
  digest          bytea NOT NULL,
  created_by      text NOT NULL,
  idempotency_key text,
  request_digest  bytea,
  approved_by     text,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  made_by_session text,
  suspended_at    timestamptz(3),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX payout_schedule_made_by_session_idx ON payout_schedule (made_by_session);
-- A caller who lost the answer gets the same schedule again.
CREATE UNIQUE INDEX payout_schedule_project_id_created_by_idempotency_key_key
  ON payout_schedule (project_id, created_by, idempotency_key);
CREATE INDEX payout_schedule_status_next_run_at_idx ON payout_schedule (status, next_run_at);

-- A run of a schedule; the primary key makes each due time run once.
CREATE TABLE payout_schedule_run (
  project_id   text NOT NULL,
  schedule_id  text NOT NULL,
  scheduled_at timestamptz(3) NOT NULL,
  status       text NOT NULL CHECK (status IN ('started', 'missed', 'refused')),
  payout_id    text,
  failure      jsonb,
  PRIMARY KEY (project_id, schedule_id, scheduled_at)
);
-- Runs that were begun, and of which no payout is known yet: looked for after every tick, and few.
CREATE INDEX payout_schedule_run_open
  ON payout_schedule_run (scheduled_at)
  WHERE status = 'started' AND payout_id IS NULL;

-- ------------------------------------------------------------ keys of payments

-- Recently requested payments of any kind: an equal one needs `allowDuplicates`.
CREATE TABLE payout_row_key (
  project_id text NOT NULL,
  row_key    bytea NOT NULL,
  payout_id  text NOT NULL,
  index      integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, row_key, payout_id, index)
);
-- Rows are added in the order of their time and swept in it: a block range index costs next to
-- nothing where a tree costs a third of each insert.
CREATE INDEX payout_row_key_created_at_idx ON payout_row_key USING brin (created_at);

-- ------------------------------------------------------------ webhooks

-- A provider's event, stored once for all its deliveries. It belongs to no project: it only wakes
-- the jobs that it names.
CREATE TABLE callback (
  source      text NOT NULL CHECK (source IN ('routing', 'bundler')),
  event_key   text NOT NULL,
  provider    text NOT NULL,
  type        text,
  status_word text,
  verified_by text NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN ('woke', 'unmatched', 'unknown')),
  body        bytea NOT NULL,
  count       integer NOT NULL DEFAULT 1,
  received_at timestamptz(3) NOT NULL,
  PRIMARY KEY (source, event_key)
);
CREATE INDEX callback_received_at_idx ON callback USING brin (received_at);

-- An event as it is written, in the transaction of the state that it reports. The sequencer moves
-- it to `event`.
CREATE TABLE event_outbox (
  project_id text NOT NULL,
  position   bigserial,
  id         text NOT NULL,
  type       text NOT NULL,
  object_id  text NOT NULL,
  payload    json NOT NULL,
  private    boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, position)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- A project's events, in order. Append-only.
CREATE TABLE event (
  project_id      text NOT NULL,
  sequence        bigint NOT NULL,
  id              text NOT NULL,
  type            text NOT NULL,
  object_id       text NOT NULL,
  object_sequence bigint NOT NULL,
  payload         json NOT NULL,
  private         boolean NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, sequence)
);
CREATE UNIQUE INDEX event_project_id_object_id_object_sequence_key
  ON event (project_id, object_id, object_sequence);

-- A month whose events and deliveries were written to files.
CREATE TABLE archive_month (
  month           text PRIMARY KEY,
  starts_at       timestamptz(3) NOT NULL,
  ends_at         timestamptz(3) NOT NULL,
  state           text NOT NULL
    CHECK (state IN ('written', 'removing', 'removed', 'restoring', 'restored')),
  manifest_sha256 text NOT NULL,
  changed_at      timestamptz(3) NOT NULL
);

-- The numbers of a project's events that are in a file, and perhaps not in `event` any more.
CREATE TABLE archived_events (
  project_id     text NOT NULL,
  month          text NOT NULL,
  first_sequence bigint NOT NULL,
  last_sequence  bigint NOT NULL,
  file           text NOT NULL,
  PRIMARY KEY (project_id, month)
);

-- The last sequence number of a project's events.
CREATE TABLE event_counter (
  project_id    text PRIMARY KEY,
  last_sequence bigint NOT NULL
) WITH (fillfactor = 50);

-- Where a project's events are sent.
CREATE TABLE webhook_endpoint (
  project_id      text NOT NULL,
  id              text NOT NULL,
  url             text NOT NULL,
  events          text[] NOT NULL,
  payload         text NOT NULL CHECK (payload IN ('full', 'thin')),
  include_private boolean NOT NULL,
  description     text,
  status          text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  disabled_reason text,
  concurrency     integer NOT NULL CHECK (concurrency BETWEEN 1 AND 50),
  version         integer NOT NULL DEFAULT 0,
  created_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  made_by_session text,
  suspended_at    timestamptz(3),
  PRIMARY KEY (project_id, id)
);
CREATE INDEX webhook_endpoint_made_by_session_idx ON webhook_endpoint (made_by_session);

-- A signing secret, encrypted under a key-encryption key. After a rotation two of them sign for a
-- while.
CREATE TABLE webhook_secret (
  project_id  text NOT NULL,
  endpoint_id text NOT NULL,
  id          text NOT NULL,
  encrypted   bytea NOT NULL,
  kek_id      text NOT NULL,
  created_at  timestamptz(3) NOT NULL,
  expires_at  timestamptz(3),
  PRIMARY KEY (project_id, endpoint_id, id),
  FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoint (project_id, id)
    ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX webhook_secret_kek_id_id_idx ON webhook_secret (kek_id, id);

-- The worker's state of an endpoint: who delivers to it now, and when the next delivery is due.
-- Apart from `webhook_endpoint`, because it changes with every delivery.
CREATE TABLE webhook_lane (
  project_id    text NOT NULL,
  endpoint_id   text NOT NULL,
  last_sequence bigint NOT NULL DEFAULT 0,
  due_at        timestamptz(3),
  locked_by     text,
  locked_until  timestamptz(3),
  failing_since timestamptz(3),
  PRIMARY KEY (project_id, endpoint_id),
  FOREIGN KEY (project_id, endpoint_id) REFERENCES webhook_endpoint (project_id, id)
    ON UPDATE CASCADE ON DELETE CASCADE
) WITH (fillfactor = 50);

-- A delivery of an event to an endpoint.
CREATE TABLE webhook_delivery (
  project_id        text NOT NULL,
  id                text NOT NULL,
  endpoint_id       text NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('event', 'test', 'replay', 'resend')),
  event_id          text NOT NULL,
  event_type        text NOT NULL,
  sequence          bigint NOT NULL,
  previous_sequence bigint,
  object_id         text NOT NULL,
  status            text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts          integer NOT NULL DEFAULT 0,
  due_at            timestamptz(3) NOT NULL,
  first_attempt_at  timestamptz(3),
  created_at        timestamptz(3) NOT NULL,
  completed_at      timestamptz(3),
  last_status       integer,
  last_error        text,
  PRIMARY KEY (project_id, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, fillfactor = 80);
CREATE INDEX webhook_delivery_created_at_idx ON webhook_delivery USING brin (created_at);
CREATE INDEX webhook_delivery_failing_idx
  ON webhook_delivery (project_id, endpoint_id, object_id, first_attempt_at)
  WHERE status = 'pending' AND first_attempt_at IS NOT NULL;
CREATE INDEX webhook_delivery_pending_idx
  ON webhook_delivery (project_id, endpoint_id, due_at, sequence)
  WHERE status = 'pending';
CREATE INDEX webhook_delivery_project_id_endpoint_id_id_idx
  ON webhook_delivery (project_id, endpoint_id, id);

-- One request of a delivery and its answer.
CREATE TABLE webhook_attempt (
  project_id       text NOT NULL,
  delivery_id      text NOT NULL,
  number           integer NOT NULL,
  at               timestamptz(3) NOT NULL,
  duration_ms      integer NOT NULL,
  url              text NOT NULL,
  request_headers  json NOT NULL,
  request_body     text NOT NULL,
  status_code      integer,
  response_headers json,
  response_body    text,
  error            text,
  PRIMARY KEY (project_id, delivery_id, number)
);
CREATE INDEX webhook_attempt_at_idx ON webhook_attempt USING brin (at);

-- ------------------------------------------------------------ private balances

-- A private wallet: a mnemonic under a data key of its own, that wrapped by the key-encryption key.
-- Its notes follow from it and the chains.
CREATE TABLE privacy_wallet (
  project_id         text NOT NULL,
  id                 text NOT NULL,
  name               text NOT NULL,
  is_default         boolean NOT NULL,
  ciphertext         bytea NOT NULL,
  wrapped_data_key   bytea NOT NULL,
  kek_id             text NOT NULL,
  created_by         text NOT NULL,
  created_at         timestamptz(3) NOT NULL,
  exported_at        timestamptz(3),
  export_decision_id text,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX privacy_wallet_kek_id_id_idx ON privacy_wallet (kek_id, id);
CREATE UNIQUE INDEX privacy_wallet_one_default ON privacy_wallet (project_id) WHERE is_default;

-- The operation that makes a wallet's deposit of this number in a pool. Numbers of failed
-- operations are reused.
CREATE TABLE privacy_slot (
  project_id   text NOT NULL,
  wallet_id    text NOT NULL,
  chain_id     integer NOT NULL,
  pool         text NOT NULL,
  number       integer NOT NULL,
  operation_id text NOT NULL,
  PRIMARY KEY (project_id, wallet_id, chain_id, pool, number)
);

-- Final logs of the privacy pools of a chain in a range of blocks; every instance reads and writes
-- them.
CREATE TABLE privacy_pool_segment (
  chain_id   integer NOT NULL,
  digest     text NOT NULL,
  from_block bigint NOT NULL,
  to_block   bigint NOT NULL,
  to_hash    text NOT NULL,
  logs       jsonb NOT NULL,
  PRIMARY KEY (chain_id, digest, from_block)
);

-- The request of a private operation.
CREATE TABLE privacy_transfer (
  project_id      text NOT NULL,
  id              text NOT NULL,
  operation_id    text NOT NULL,
  kind            text NOT NULL,
  wallet_id       text NOT NULL,
  to_wallet_id    text,
  to_address      text,
  chain_id        integer NOT NULL,
  token           jsonb NOT NULL,
  token_out       jsonb NOT NULL,
  amount_base     numeric(78, 0) NOT NULL,
  note_id         text,
  path            text,
  minimum_base    numeric(78, 0),
  digest          bytea NOT NULL,
  idempotency_key text,
  request_digest  bytea,
  created_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id),
  CONSTRAINT privacy_transfer_amount_check CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1),
  CONSTRAINT privacy_transfer_kind_check CHECK (
    kind IN ('shield', 'unshield', 'private_transfer', 'private_swap', 'public_exit')
    AND (kind = 'public_exit') = (note_id IS NOT NULL)
  )
);
CREATE INDEX privacy_transfer_exits_idx
  ON privacy_transfer (project_id, chain_id, note_id)
  WHERE note_id IS NOT NULL;
CREATE UNIQUE INDEX privacy_transfer_project_id_created_by_idempotency_key_key
  ON privacy_transfer (project_id, created_by, idempotency_key);
CREATE UNIQUE INDEX privacy_transfer_project_id_operation_id_key
  ON privacy_transfer (project_id, operation_id);

-- One note that a private operation spends.
CREATE TABLE privacy_step (
  project_id    text NOT NULL,
  operation_id  text NOT NULL,
  position      integer NOT NULL,
  chain_id      integer NOT NULL,
  note_id       text NOT NULL,
  state         text NOT NULL
    CHECK (state IN ('queued', 'proved', 'submitted', 'completed', 'failed')),
  withdraw_base numeric(78, 0) NOT NULL,
  out_base      numeric(78, 0) NOT NULL,
  slot_number   integer,
  attempt       integer NOT NULL DEFAULT 0,
  transaction   jsonb,
  tx_hash       text,
  block_number  bigint,
  received_base numeric(78, 0),
  failure       jsonb,
  proving_since timestamptz(3),
  version       integer NOT NULL DEFAULT 0,
  updated_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, operation_id, position),
  CONSTRAINT privacy_step_amount_check CHECK (
    withdraw_base BETWEEN 1 AND 2::numeric ^ 256 - 1
    AND out_base BETWEEN 1 AND 2::numeric ^ 256 - 1
  )
);
-- A note is spent by one open step at most.
CREATE UNIQUE INDEX privacy_step_note_in_use
  ON privacy_step (project_id, chain_id, note_id)
  WHERE state IN ('queued', 'proved', 'submitted');
-- Private payments by block, for the comparison of coins.
CREATE INDEX privacy_step_project_id_chain_id_block_number_idx
  ON privacy_step (project_id, chain_id, block_number);
-- Tells whether a transfer into a wallet is a private payment of the project's own.
CREATE INDEX privacy_step_project_id_chain_id_tx_hash_idx
  ON privacy_step (project_id, chain_id, tx_hash);

-- A priced private swap.
CREATE TABLE privacy_quote (
  project_id   text NOT NULL,
  id           text NOT NULL,
  wallet_id    text,
  status       text NOT NULL CHECK (status IN ('open', 'prepared', 'used')),
  chain_id     integer NOT NULL,
  token        jsonb NOT NULL,
  token_out    jsonb NOT NULL,
  amount_base  numeric(78, 0) NOT NULL,
  path         text NOT NULL,
  out_base     numeric(78, 0) NOT NULL,
  minimum_base numeric(78, 0) NOT NULL,
  digest       bytea NOT NULL,
  created_by   text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL,
  approved_at  timestamptz(3),
  code_id      text,
  code_means   text,
  operation_id text,
  PRIMARY KEY (project_id, id)
);

-- A version of a signed sanctions list.
CREATE TABLE screening_list (
  name        text NOT NULL,
  version     integer NOT NULL CHECK (version > 0),
  digest      bytea NOT NULL,
  source      text NOT NULL,
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
  address   text NOT NULL,
  label     text NOT NULL,
  PRIMARY KEY (list_name, version, address),
  FOREIGN KEY (list_name, version) REFERENCES screening_list (name, version)
);

-- A screening that let money move or stopped it.
CREATE TABLE screening_record (
  project_id   text NOT NULL,
  id           text NOT NULL,
  subject_type text NOT NULL,
  subject_id   text,
  part         text,
  phase        text NOT NULL,
  mode         text NOT NULL,
  outcome      text NOT NULL,
  addresses    integer NOT NULL,
  sources      jsonb NOT NULL,
  findings     jsonb NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX screening_record_project_id_subject_id_idx
  ON screening_record (project_id, subject_id);

-- ------------------------------------------------------------ notifications

-- A numbered event that people may have to be told of. Taken by the turn that stores the
-- notifications. Written in SQL alone.
CREATE TABLE notification_due (
  project_id text NOT NULL,
  sequence   bigint NOT NULL,
  queued_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project_id, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- Events wait for their notifications in the order of their age, so that a project with many of
-- them does not keep others waiting.
CREATE INDEX notification_due_queued_at ON notification_due (queued_at, project_id, sequence);

-- Something that a person of a project is told of, in the dashboard, by mail, or both. Written by
-- lib/money/notifications alone.
CREATE TABLE notification (
  project_id text NOT NULL,
  user_id    text NOT NULL,
  id         text NOT NULL,
  kind       text NOT NULL,
  source     text NOT NULL,
  title      text NOT NULL,
  detail     text,
  object_id  text,
  path       text NOT NULL,
  in_app     boolean NOT NULL,
  mail       text NOT NULL CHECK (mail IN ('none', 'at_once', 'daily', 'sent')),
  push_title text,
  created_at timestamptz(3) NOT NULL,
  read_at    timestamptz(3),
  PRIMARY KEY (project_id, user_id, id)
);
CREATE INDEX notification_created_at_idx ON notification USING brin (created_at);
CREATE INDEX notification_mail_idx
  ON notification (project_id, user_id, id)
  WHERE mail IN ('at_once', 'daily');
CREATE UNIQUE INDEX notification_project_id_user_id_source_key
  ON notification (project_id, user_id, source);
CREATE INDEX notification_unread_idx
  ON notification (project_id, user_id, kind)
  WHERE in_app AND read_at IS NULL;

-- One row for each person of a project who was notified.
CREATE TABLE notification_box (
  project_id  text NOT NULL,
  user_id     text NOT NULL,
  version     bigint NOT NULL DEFAULT 0,
  mail_due_at timestamptz(3),
  mailed_at   timestamptz(3),
  PRIMARY KEY (project_id, user_id)
) WITH (fillfactor = 70);
CREATE INDEX notification_box_mail_due_idx
  ON notification_box (mail_due_at)
  WHERE mail_due_at IS NOT NULL;

-- What a person of a project wants to be told of. Kinds without a row have defaults.
CREATE TABLE notification_preference (
  project_id    text NOT NULL,
  user_id       text NOT NULL,
  kind          text NOT NULL,
  in_app        boolean NOT NULL,
  mail          text NOT NULL CHECK (mail IN ('off', 'at_once', 'daily')),
  push          boolean NOT NULL DEFAULT false,
  threshold_usd numeric(24, 6) CHECK (threshold_usd >= 0 AND threshold_usd <> 'NaN'),
  PRIMARY KEY (project_id, user_id, kind)
);

-- A file that is written in the background. Written by lib/money/exports alone, in SQL.
CREATE TABLE export (
  project_id text NOT NULL,
  id         text NOT NULL,
  kind       text NOT NULL,
  format     text NOT NULL CHECK (format IN ('csv', 'camt053')),
  filters    jsonb NOT NULL,
  needs      text[] NOT NULL,
  scopes     text[],
  created_by text NOT NULL,
  state      text NOT NULL CHECK (state IN ('queued', 'running', 'ready', 'failed')),
  cursor     text,
  is_whole   boolean NOT NULL,
  chunks     integer NOT NULL CHECK (chunks >= 0),
  rows       bigint NOT NULL CHECK (rows >= 0),
  bytes      bigint NOT NULL CHECK (bytes >= 0),
  sha256     bytea CHECK (octet_length(sha256) = 32),
  failure    text,
  created_at timestamptz(3) NOT NULL,
  ready_at   timestamptz(3),
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id),
  CHECK ((state = 'ready') = (sha256 IS NOT NULL)),
  CHECK ((state = 'failed') = (failure IS NOT NULL))
);
CREATE INDEX export_created_at_idx ON export (created_at);

-- A part of such a file.
CREATE TABLE export_chunk (
  project_id text NOT NULL,
  export_id  text NOT NULL,
  index      integer NOT NULL CHECK (index >= 0),
  content    bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, export_id, index)
);
CREATE INDEX export_chunk_created_at_idx ON export_chunk (created_at);

-- A browser of a person that takes push messages, as long as its session lasts.
CREATE TABLE push_subscription (
  id         text PRIMARY KEY,
  user_id    text NOT NULL,
  session_id text NOT NULL,
  endpoint   text NOT NULL,
  p256dh     text NOT NULL,
  auth       text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX push_subscription_endpoint_key ON push_subscription (endpoint);
CREATE INDEX push_subscription_session_id_idx ON push_subscription (session_id);
CREATE INDEX push_subscription_user_id_idx ON push_subscription (user_id);

-- A chat that gets a project's notifications by the address of its incoming webhook, which is
-- encrypted under a key-encryption key.
CREATE TABLE notification_channel (
  project_id      text NOT NULL,
  id              text NOT NULL,
  service         text NOT NULL CHECK (service IN ('slack', 'teams')),
  name            text NOT NULL,
  kinds           text[] NOT NULL,
  include_amounts boolean NOT NULL,
  status          text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  disabled_reason text CHECK (disabled_reason IN ('gone', 'failing')),
  shown_address   text NOT NULL,
  encrypted       bytea NOT NULL,
  kek_id          text NOT NULL,
  version         integer NOT NULL DEFAULT 0,
  next_at         timestamptz(3),
  failing_since   timestamptz(3),
  last_at         timestamptz(3),
  last_status     integer,
  last_error      text,
  created_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX notification_channel_kek_id_id_idx ON notification_channel (kek_id, id);

-- A message that waits for its channel; deleted once it is sent.
CREATE TABLE notification_channel_message (
  project_id text NOT NULL,
  channel_id text NOT NULL,
  id         text NOT NULL,
  title      text NOT NULL,
  detail     text,
  path       text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, channel_id, id),
  FOREIGN KEY (project_id, channel_id) REFERENCES notification_channel (project_id, id)
    ON UPDATE CASCADE ON DELETE CASCADE
);

-- An account of the service that has too little for network fees.
CREATE TABLE gas_alert (
  chain_id        integer NOT NULL,
  account         text NOT NULL CHECK (account IN ('executor', 'paymaster')),
  balance         text NOT NULL,
  since           timestamptz(3) NOT NULL,
  told_project_id text NOT NULL DEFAULT '',
  told_at         timestamptz(3),
  PRIMARY KEY (chain_id, account)
);

-- ------------------------------------------------------------ deposits

-- How far each chain was searched for deposits.
CREATE TABLE deposit_scan (
  chain_id      integer PRIMARY KEY,
  final_number  bigint NOT NULL,
  seen_number   bigint NOT NULL,
  seen_hash     text NOT NULL,
  native_number bigint NOT NULL,
  started_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL
);

-- Money that came into a wallet of a project from outside.
CREATE TABLE deposit (
  project_id     text NOT NULL,
  id             text NOT NULL,
  chain_id       integer NOT NULL,
  tx_hash        text,
  log_index      integer,
  block_number   bigint NOT NULL,
  wallet_id      text NOT NULL,
  wallet_address text NOT NULL,
  token          text NOT NULL,
  sender         text,
  amount_base    numeric(78, 0) NOT NULL CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1),
  usd_micro      numeric(78, 0),
  state          text NOT NULL CHECK (
    state IN (
      'unclear', 'own', 'dust', 'pending', 'credited', 'quarantined', 'released', 'dropped'
    )
  ),
  is_held        boolean NOT NULL,
  verdict        text,
  verdict_source text,
  list_version   text,
  screened_at    timestamptz(3),
  screening_id   text,
  again_at       timestamptz(3),
  decided_by     text,
  decided_reason text,
  decided_at     timestamptz(3),
  detected_at    timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX deposit_again_idx ON deposit (chain_id, again_at) WHERE again_at IS NOT NULL;
-- Dust in blocks that are not final yet.
CREATE INDEX deposit_dust_idx ON deposit (chain_id, block_number) WHERE state = 'dust';
-- A log counts once. Columns of coins are null, which are never equal.
CREATE UNIQUE INDEX deposit_log_key ON deposit (project_id, chain_id, tx_hash, log_index);
-- A wallet's coins rise once in a block.
CREATE UNIQUE INDEX deposit_native_key
  ON deposit (project_id, chain_id, wallet_address, block_number)
  WHERE tx_hash IS NULL;
-- Deposits that are not decided yet, over all projects.
CREATE INDEX deposit_open_idx
  ON deposit (chain_id, block_number)
  WHERE state IN ('unclear', 'pending');
CREATE INDEX deposit_pending_idx ON deposit (project_id, id) WHERE state = 'pending';
CREATE INDEX deposit_quarantined_idx ON deposit (project_id, id) WHERE state = 'quarantined';
-- The deposits that wait for a person, the most worth first.
CREATE INDEX deposit_quarantined_worth_idx
  ON deposit (project_id, usd_micro DESC NULLS LAST, id DESC)
  WHERE state = 'quarantined';
-- Deposits that a reorganisation may replace.
CREATE INDEX deposit_unfinal_idx
  ON deposit (chain_id, block_number)
  WHERE state NOT IN ('credited', 'released', 'dropped');
CREATE INDEX deposit_updated_idx ON deposit (project_id, updated_at);

-- Deposits of final blocks that are too small to be shown one by one: their sums.
CREATE TABLE deposit_dust (
  project_id     text NOT NULL,
  wallet_id      text NOT NULL,
  chain_id       integer NOT NULL,
  token          text NOT NULL,
  wallet_address text NOT NULL,
  count          bigint NOT NULL,
  total_base     numeric(78, 0) NOT NULL,
  last_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, wallet_id, chain_id, token)
);

-- The coins of a wallet at the newest final block at which they were compared.
CREATE TABLE deposit_coins (
  project_id     text NOT NULL,
  wallet_id      text NOT NULL,
  chain_id       integer NOT NULL,
  wallet_address text NOT NULL,
  balance_base   numeric(78, 0) NOT NULL,
  block_number   bigint NOT NULL,
  is_deferred    boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_id, wallet_id, chain_id)
);
CREATE INDEX deposit_coins_deferred_idx
  ON deposit_coins (wallet_address, chain_id)
  WHERE is_deferred;

-- Whether money may be signed for with this database: one row.
CREATE TABLE signing_state (
  id         integer PRIMARY KEY,
  identity   text NOT NULL,
  seen_at    timestamptz(3) NOT NULL,
  off_since  timestamptz(3),
  off_reason text,
  allowed_at timestamptz(3),
  allowed_by text,
  CONSTRAINT signing_state_one_row CHECK (id = 1)
);

-- A move that a chain shows and no row of the database explains, because a restore lost it; a
-- person has accepted it.
CREATE TABLE unknown_move (
  chain_id       integer NOT NULL,
  hash           text NOT NULL,
  tx_hash        text NOT NULL,
  block_number   bigint NOT NULL,
  project_id     text,
  wallet_address text,
  payments       jsonb NOT NULL,
  payload        text NOT NULL,
  accepted_at    timestamptz(3) NOT NULL,
  accepted_by    text NOT NULL,
  reason         text NOT NULL,
  released_at    timestamptz(3),
  released_by    text,
  PRIMARY KEY (chain_id, hash)
);

-- ------------------------------------------------------------ statistics

-- Statements name the project beside the account or the payout, whose project is always the same.
-- Without these statistics PostgreSQL takes the two for independent, expects far fewer rows than
-- there are, and sorts all entries of an account to return its last ones.
CREATE STATISTICS ledger_entry_project (dependencies) ON project_id, account_id FROM ledger_entry;
CREATE STATISTICS payout_item_project (dependencies) ON project_id, payout_id FROM payout_item;

-- ------------------------------------------------------------ append-only

-- Recorded events stay as they were recorded. The triggers hold this where rights bind nobody: for
-- superusers. Citus refuses tables with triggers, so `npm run db:distribute` drops those of tables
-- that it distributes, and rights hold it there.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER audit_event_append_only BEFORE UPDATE OR DELETE ON audit_event
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_event_append_only BEFORE UPDATE OR DELETE ON operation_event
  FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- Posted rows stay as they were posted, whoever asks: the owner of the tables too, and while
-- replicating.
CREATE FUNCTION refuse_ledger_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% refuses %: the ledger is append-only, corrections are reversals',
    TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER ledger_account_kept BEFORE DELETE OR TRUNCATE ON ledger_account
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_transaction_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_transaction
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change();
ALTER TABLE ledger_account ENABLE ALWAYS TRIGGER ledger_account_kept;
ALTER TABLE ledger_transaction ENABLE ALWAYS TRIGGER ledger_transaction_append_only;
ALTER TABLE ledger_entry ENABLE ALWAYS TRIGGER ledger_entry_append_only;

-- The same by rights. An owner that is no superuser loses them as well. The role of the service
-- gets its rights from lib/platform/db/roles/table-rights.ts.
REVOKE UPDATE, DELETE, TRUNCATE
  ON audit_event, audit_link, ledger_entry, ledger_transaction, policy, policy_evaluation,
    screening_list, screening_list_entry, screening_record
  FROM PUBLIC, CURRENT_USER;
REVOKE DELETE, TRUNCATE ON audit_head, ledger_account FROM PUBLIC, CURRENT_USER;

-- The role that the ledger's own connections take. Where the user may not create roles, only the
-- triggers stand guard. Roles belong to the whole server: another database on it may have made this
-- one, even at this moment.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'causeway_ledger') THEN
    BEGIN
      CREATE ROLE causeway_ledger NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN NULL;
    END;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'causeway_ledger') THEN RETURN; END IF;
  -- PostgreSQL 15 does not have the privilege SET; there, every member of a role may take it.
  IF NOT pg_has_role(
    CURRENT_USER, 'causeway_ledger',
    CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END
  ) THEN
    BEGIN
      EXECUTE format('GRANT causeway_ledger TO %I', CURRENT_USER);
    EXCEPTION
      WHEN insufficient_privilege OR unique_violation THEN NULL;
    END;
  END IF;
  GRANT SELECT, INSERT ON ledger_account, ledger_transaction, ledger_entry TO causeway_ledger;
  GRANT UPDATE (name, status, status_reason, balance, held, version, last_seq, updated_at)
    ON ledger_account TO causeway_ledger;
END $$;
