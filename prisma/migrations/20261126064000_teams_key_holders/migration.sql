-- A person who rotates an API key gets its secret, so that person is a maker of what the key asks for.
ALTER TABLE api_key ADD COLUMN rotated_by text[] NOT NULL DEFAULT '{}';
ALTER TABLE decision_request ADD COLUMN other_makers text[] NOT NULL DEFAULT '{}';
-- The policy of a key also bounds the runs of schedules that the key made, and the screening of its payouts before they are signed.
ALTER TABLE wallet_payout ADD COLUMN asked_by text;
