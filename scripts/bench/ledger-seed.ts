import type pg from "pg";

/** Opening balance of each account, large enough for every run. */
const START = "1000000000";

const KEY_HASH = (key: string): string =>
  `left(encode(sha256(convert_to($1 || chr(31) || 'seed' || chr(31) || ${key}, 'UTF8')), 'hex'), 32)::uuid`;

const TRANSACTION_COLUMNS =
  "(id, project_id, kind, scope, idempotency_key, key_hash, request_digest, created_by, created_at)";

/**
 * Opens accounts of one currency and funds them by one transaction, with SQL. The rows are the same
 * as those that the service would write.
 * @returns the accounts' ids without their prefix
 */
export const seedAccounts = async (
  pool: pg.Pool,
  projectId: string,
  count: number,
): Promise<string[]> => {
  await pool.query(
    `INSERT INTO ledger_account (id, project_id, currency, kind, status, minimum, balance, version, last_seq, created_at, updated_at)
     SELECT uuidv7(), $1, 'usdc', 'customer', 'active', 0, ${START}, 1, 1, now(), now() FROM generate_series(1, $2::int)
     UNION ALL
     SELECT uuidv7(), $1, 'usdc', 'treasury_reserve', 'active', NULL, -${START}::numeric * $2::int, 1, 1, now(), now()`,
    [projectId, count],
  );
  await pool.query(
    `WITH funding AS (
       INSERT INTO ledger_transaction ${TRANSACTION_COLUMNS}
       SELECT uuidv7(), $1, 'fund', 'seed', 'fund', ${KEY_HASH("'fund'")}, sha256('fund'), 'seed', now() RETURNING id
     )
     INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
     SELECT $1, a.id, 1, funding.id, 'usdc', a.balance, a.balance, now() FROM ledger_account a, funding`,
    [projectId],
  );
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM ledger_account WHERE kind = 'customer' ORDER BY id",
  );
  await pool.query("VACUUM ANALYZE ledger_account, ledger_transaction, ledger_entry");
  return rows.map(({ id }) => id);
};

// One round: every account pays 1 to its neighbour. The rows are inserted in an order by hash,
// which favours no index.
const ROUND = `
  WITH ring AS MATERIALIZED (
    SELECT id AS source, lead(id, 1, first) OVER (ORDER BY id) AS target, uuidv7() AS transaction, $2 || '/' || number AS key
    FROM (SELECT id, min(id::text) OVER ()::uuid AS first, row_number() OVER (ORDER BY id) AS number
          FROM ledger_account WHERE kind = 'customer') a
  ), transactions AS (
    INSERT INTO ledger_transaction ${TRANSACTION_COLUMNS}
    SELECT transaction, $1, 'transfer', 'seed', key, ${KEY_HASH("key")}, sha256(convert_to(key, 'UTF8')), 'seed', now()
    FROM ring ORDER BY md5(key)
  ), entries AS (
    INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
    SELECT $1, id, last_seq + step, transaction, 'usdc', amount, balance + change, now()
    FROM (
      SELECT source AS account, transaction, 1 AS step, -1 AS amount, -1 AS change, key FROM ring
      UNION ALL SELECT target, transaction, 2, 1, 0, key FROM ring
    ) e JOIN ledger_account a ON a.id = e.account ORDER BY md5(key)
  )
  UPDATE ledger_account SET last_seq = last_seq + 2, version = version + 2, updated_at = now() WHERE kind = 'customer'`;

/**
 * Adds rounds until the ledger has `entries` entries.
 * @returns the number of rounds so far
 */
export const seedEntries = async (
  pool: pg.Pool,
  projectId: string,
  { from, entries }: { from: number; entries: number },
): Promise<number> => {
  for (let round = from; ; round += 1) {
    const { rows } = await pool.query<{ count: string }>("SELECT count(*) FROM ledger_entry");
    if (Number(rows[0]?.count) >= entries) return round;
    await pool.query(ROUND, [projectId, `round-${String(round)}`]);
  }
};

/**
 * A transfer that checks only the balance. It has no idempotency and does not store rejected
 * transfers, so it does less than the ledger.
 */
export const LEDGER_FUNCTION = `
  CREATE FUNCTION bench_transfer(project text, source uuid, target uuid, amount numeric, key text) RETURNS uuid
  LANGUAGE plpgsql AS $$
  DECLARE
    a ledger_account; b ledger_account; transaction uuid := uuidv7();
  BEGIN
    IF source < target THEN
      SELECT * INTO a FROM ledger_account WHERE id = source FOR UPDATE;
      SELECT * INTO b FROM ledger_account WHERE id = target FOR UPDATE;
    ELSE
      SELECT * INTO b FROM ledger_account WHERE id = target FOR UPDATE;
      SELECT * INTO a FROM ledger_account WHERE id = source FOR UPDATE;
    END IF;
    IF a.balance - a.held - amount < a.minimum THEN RAISE EXCEPTION 'insufficient balance'; END IF;
    INSERT INTO ledger_transaction ${TRANSACTION_COLUMNS}
    VALUES (transaction, project, 'transfer', 'transfer', key, key::uuid, sha256(convert_to(key, 'UTF8')), 'bench', now());
    INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at) VALUES
      (project, source, a.last_seq + 1, transaction, a.currency, -amount, a.balance - amount, now()),
      (project, target, b.last_seq + 1, transaction, b.currency, amount, b.balance + amount, now());
    UPDATE ledger_account SET balance = a.balance - amount, last_seq = a.last_seq + 1, version = a.version + 1 WHERE id = source;
    UPDATE ledger_account SET balance = b.balance + amount, last_seq = b.last_seq + 1, version = b.version + 1 WHERE id = target;
    RETURN transaction;
  END $$`;
