-- The authenticator app of a person (RFC 6238), and codes that replace it.
CREATE TABLE totp_factor (
  user_id          text PRIMARY KEY REFERENCES app_user (id),
  id               text NOT NULL UNIQUE,
  secret_encrypted bytea NOT NULL,
  kek_id           text NOT NULL,
  created_at       timestamptz(3) NOT NULL,
  -- When a first code showed that the app has the secret; before that it approves nothing.
  confirmed_at     timestamptz(3),
  -- The newest time step whose code was used. Codes of this step and of earlier ones are refused.
  last_step        integer
);

CREATE TABLE recovery_code (
  user_id    text NOT NULL REFERENCES app_user (id),
  -- SHA-256 of the person's id and the code, which has 80 random bits; the code itself is not stored.
  code_hash  bytea NOT NULL,
  created_at timestamptz(3) NOT NULL,
  used_at    timestamptz(3),
  PRIMARY KEY (user_id, code_hash)
);

-- Old instances still write 'code' and 'signature' alone.
ALTER TABLE approval DROP CONSTRAINT approval_consumed_check;
ALTER TABLE approval ADD CONSTRAINT approval_consumed_check CHECK (
  (consumed_at IS NULL) = (consumed_by IS NULL)
  AND (consumed_by IS NULL OR consumed_by IN ('code', 'signature', 'totp', 'recovery_code', 'passkey'))
);
