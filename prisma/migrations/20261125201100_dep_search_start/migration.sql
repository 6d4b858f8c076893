-- When the search began: coins that came into an older wallet before are no deposits.
ALTER TABLE deposit_scan ADD COLUMN started_at timestamptz(3) NOT NULL DEFAULT now();
