-- How far each chain was searched for deposits. Every row of a block up to `final_number` is stored, with its screening.
CREATE TABLE deposit_scan (
  chain_id       integer NOT NULL,
  -- The newest final block that was searched.
  final_number   bigint NOT NULL,
  -- The newest block that was searched, and its hash: another hash at this number means that a reorganisation replaced it.
  seen_number    bigint NOT NULL,
  seen_hash      text NOT NULL,
  -- The final block of which all coin balances were compared last.
  native_number  bigint NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (chain_id)
);

-- Money that came into a wallet of a project from outside.
CREATE TABLE deposit (
  project_id     text NOT NULL,
  -- The id of its operation of kind `deposit`.
  id             text NOT NULL,
  chain_id       integer NOT NULL,
  -- Null for coins, of which no log tells.
  tx_hash        text,
  log_index      integer,
  block_number   bigint NOT NULL,
  wallet_id      text NOT NULL,
  wallet_address text NOT NULL,
  -- Lower-case token address, or `native`.
  token          text NOT NULL,
  -- Null: not known.
  sender         text,
  amount_base    numeric(78, 0) NOT NULL CHECK (amount_base BETWEEN 1 AND 2::numeric ^ 256 - 1),
  -- In millionths of a dollar when it was credited; null: no price was known.
  usd_micro      numeric(78, 0),
  -- unclear: it may be a part of an operation of the project that is under way; nobody is told of it yet
  -- own: it was. dropped: a reorganisation removed it
  state          text NOT NULL CHECK (state IN ('unclear', 'own', 'pending', 'credited', 'quarantined', 'released', 'dropped')),
  -- Whether its amount is a part of the quarantine's hold.
  is_held        boolean NOT NULL,
  -- clear | hit | not_covered | unavailable; null: the policy asks for no screening, or no source is set up
  verdict        text,
  verdict_source text,
  list_version   text,
  screened_at    timestamptz(3),
  screening_id   text,
  -- When a sender that could not be screened is screened again.
  again_at       timestamptz(3),
  decided_by     text,
  decided_reason text,
  decided_at     timestamptz(3),
  detected_at    timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (project_id, id)
);
-- A log counts once. Columns of coins are null, which are never equal.
CREATE UNIQUE INDEX deposit_log_key ON deposit (project_id, chain_id, tx_hash, log_index);
-- A wallet's coins rise once in a block.
CREATE UNIQUE INDEX deposit_native_key ON deposit (project_id, chain_id, wallet_address, block_number) WHERE tx_hash IS NULL;
-- What is not decided yet, over all projects.
CREATE INDEX deposit_open_idx ON deposit (chain_id, block_number) WHERE state IN ('unclear', 'pending');
CREATE INDEX deposit_again_idx ON deposit (chain_id, again_at) WHERE again_at IS NOT NULL;
CREATE INDEX deposit_quarantined_idx ON deposit (project_id, id) WHERE state = 'quarantined';
CREATE INDEX deposit_pending_idx ON deposit (project_id, id) WHERE state = 'pending';
CREATE INDEX deposit_updated_idx ON deposit (project_id, updated_at);

-- The coins of a wallet at the newest final block at which they were compared.
CREATE TABLE deposit_coins (
  project_id     text NOT NULL,
  wallet_id      text NOT NULL,
  chain_id       integer NOT NULL,
  wallet_address text NOT NULL,
  balance_base   numeric(78, 0) NOT NULL,
  block_number   bigint NOT NULL,
  -- An operation under way may explain a rise after this block, so its newer balances were not compared.
  is_deferred    boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_id, wallet_id, chain_id)
);
CREATE INDEX deposit_coins_deferred_idx ON deposit_coins (wallet_address, chain_id) WHERE is_deferred;
