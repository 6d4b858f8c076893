-- Passkeys of persons (WebAuthn Level 2).
CREATE TABLE passkey (
  id            text PRIMARY KEY,
  user_id       text NOT NULL REFERENCES app_user (id),
  credential_id text NOT NULL UNIQUE,
  -- COSE key.
  public_key    bytea NOT NULL,
  -- The newest signature counter; 0 for passkeys that do not count.
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  -- Whether the passkey may be on several devices of the person.
  synced        boolean NOT NULL,
  name          text NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  last_used_at  timestamptz(3)
);
CREATE INDEX passkey_user_id_created_at_idx ON passkey (user_id, created_at);

CREATE TABLE passkey_challenge (
  -- Random bytes; for an approval the digest of what is approved comes first.
  challenge  bytea PRIMARY KEY,
  -- register | approve | sign_in
  purpose    text NOT NULL,
  -- Null for a sign-in: the passkey says who it is.
  user_id    text,
  -- The approved object, or the name of the new passkey.
  subject    text,
  digest     bytea,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  used_at    timestamptz(3)
);
CREATE INDEX passkey_challenge_expires_at_idx ON passkey_challenge (expires_at);
