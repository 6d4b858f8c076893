-- Where a session began, and when it was last used. Older rows have neither.
ALTER TABLE session
  ADD COLUMN client_address text,
  ADD COLUMN last_used_at timestamptz(3);
