import type pg from "pg";

export interface LedgerFigures {
  readonly accounts: number;
  readonly transactions: number;
  readonly rejected: number;
  readonly entries: number;
  readonly reversals: number;
  /** The sum of all customer accounts, in base units, by currency. */
  readonly liabilities: Readonly<Record<string, string>>;
}

export interface LedgerReport {
  readonly figures: LedgerFigures;
  /** One sentence per violation; empty when the ledger is consistent. */
  readonly violations: readonly string[];
}

interface Rule {
  readonly rule: string;
  readonly sql: string;
}

const EXAMPLES_MAX = 20;

const FIGURES = `
  SELECT (SELECT count(*) FROM ledger_account WHERE kind = 'customer') AS accounts,
    (SELECT count(*) FROM ledger_transaction) AS transactions,
    (SELECT count(*) FROM ledger_transaction WHERE rejection IS NOT NULL) AS rejected,
    (SELECT count(*) FROM ledger_entry) AS entries,
    (SELECT count(*) FROM ledger_transaction WHERE reverses_id IS NOT NULL) AS reversals`;

const LIABILITIES = `
  SELECT currency, sum(balance)::text AS owed FROM ledger_account WHERE kind = 'customer' GROUP BY currency ORDER BY currency`;

const MOVES = "('transfer', 'batch', 'fund', 'reverse', 'withdraw', 'settle')";

const RULES: readonly Rule[] = [
  {
    rule: "the entries of a currency sum to 0",
    sql: `SELECT format('%s: %s', currency, sum(amount)) FROM ledger_entry GROUP BY currency HAVING sum(amount) <> 0`,
  },
  {
    rule: "the entries of a transaction sum to 0 in each currency",
    sql: `SELECT format('transaction %s: %s %s', transaction_id, sum(amount), currency) FROM ledger_entry
      GROUP BY project_id, transaction_id, currency HAVING sum(amount) <> 0`,
  },
  {
    rule: "a balance is the sum of its entries",
    sql: `SELECT format('account %s: balance %s, entries %s', a.id, a.balance, coalesce(e.total, 0))
      FROM ledger_account a LEFT JOIN (SELECT project_id, account_id, sum(amount) AS total FROM ledger_entry GROUP BY 1, 2) e
      ON e.project_id = a.project_id AND e.account_id = a.id WHERE a.balance <> coalesce(e.total, 0)`,
  },
  {
    rule: "a balance is its last entry's balance_after",
    sql: `SELECT format('account %s: balance %s, entry %s says %s', a.id, a.balance, a.last_seq, e.balance_after)
      FROM ledger_account a LEFT JOIN ledger_entry e ON e.project_id = a.project_id AND e.account_id = a.id AND e.seq = a.last_seq
      WHERE a.balance <> coalesce(e.balance_after, 0) OR (a.last_seq > 0 AND e.seq IS NULL)`,
  },
  {
    rule: "the numbers of an account's entries have no gap",
    sql: `SELECT format('account %s: %s entries from %s to %s, last_seq %s', a.id, e.count, e.low, e.high, a.last_seq)
      FROM ledger_account a
      LEFT JOIN (SELECT project_id, account_id, count(*) AS count, min(seq) AS low, max(seq) AS high FROM ledger_entry GROUP BY 1, 2) e
        ON e.project_id = a.project_id AND e.account_id = a.id
      WHERE coalesce(e.count, 0) <> a.last_seq OR coalesce(e.high, 0) <> a.last_seq OR coalesce(e.low, 1) <> 1`,
  },
  {
    rule: "each entry's balance_after is the one before it and its amount, and time does not run backwards",
    sql: `SELECT format('account %s, entry %s', account_id, seq) FROM (
        SELECT account_id, seq, amount, balance_after, created_at, lag(balance_after, 1, 0::numeric) OVER w AS before,
          lag(created_at) OVER w AS earlier FROM ledger_entry WINDOW w AS (PARTITION BY project_id, account_id ORDER BY seq)
      ) e WHERE balance_after <> before + amount OR created_at < earlier`,
  },
  {
    rule: "nothing is below its minimum",
    sql: `SELECT format('account %s: balance %s, minimum %s', id, balance, minimum) FROM ledger_account WHERE balance < minimum
      UNION ALL
      SELECT format('account %s, entry %s: %s is below %s', e.account_id, e.seq, e.balance_after, a.minimum)
        FROM ledger_entry e JOIN ledger_account a ON a.project_id = e.project_id AND a.id = e.account_id
        WHERE e.balance_after < a.minimum`,
  },
  {
    rule: "a reversal mirrors its source, entry by entry, and a reversal is not reversed",
    sql: `WITH mirrored AS (
        SELECT t.project_id, t.id, e.account_id, -e.amount AS amount, count(*) AS count FROM ledger_transaction t
          JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.id WHERE t.reverses_id IS NOT NULL GROUP BY 1, 2, 3, 4
      ), source AS (
        SELECT t.project_id, t.id, e.account_id, e.amount, count(*) AS count FROM ledger_transaction t
          JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.reverses_id GROUP BY 1, 2, 3, 4
      )
      SELECT format('reversal %s on account %s', id, account_id) FROM mirrored m FULL JOIN source o
        USING (project_id, id, account_id, amount, count) WHERE m.count IS NULL OR o.count IS NULL OR m.id IS NULL OR o.id IS NULL
      UNION ALL
      SELECT format('reversal %s of %s', t.id, t.reverses_id) FROM ledger_transaction t
        LEFT JOIN ledger_transaction o ON o.project_id = t.project_id AND o.id = t.reverses_id
        WHERE t.reverses_id IS NOT NULL AND (o.id IS NULL OR o.kind = 'reverse')`,
  },
  {
    rule: "no more of a payout's withdrawals was paid and returned than was taken out of its account",
    sql: `SELECT format('payout %s: %s', t.data->>'payoutId', sum(e.amount)) FROM ledger_transaction t
      JOIN ledger_entry e ON e.project_id = t.project_id AND e.transaction_id = t.id
      JOIN ledger_account a ON a.project_id = e.project_id AND a.id = e.account_id AND a.kind = 'withdrawal_transit'
      GROUP BY t.project_id, t.data->>'payoutId' HAVING sum(e.amount) < 0`,
  },
  {
    rule: "a key's hash is that of its project, scope and key, and a digest has 32 bytes",
    sql: `SELECT format('transaction %s', id) FROM ledger_transaction
      WHERE replace(key_hash::text, '-', '') <> left(encode(sha256(convert_to(
        project_id || chr(31) || scope || chr(31) || idempotency_key, 'UTF8')), 'hex'), 32) OR length(request_digest) <> 32`,
  },
  {
    rule: "a posted movement has entries, and whatever was refused or moves nothing has none",
    sql: `SELECT format('transaction %s (%s): %s entries', t.id, t.kind, coalesce(e.count, 0)) FROM ledger_transaction t
      LEFT JOIN (SELECT project_id, transaction_id, count(*) AS count FROM ledger_entry GROUP BY 1, 2) e
        ON e.project_id = t.project_id AND e.transaction_id = t.id
      WHERE CASE WHEN t.rejection IS NULL AND t.kind IN ${MOVES} THEN coalesce(e.count, 0) < 2 ELSE e.count > 0 END`,
  },
  {
    rule: "an entry belongs to a transaction and an account of the same project and currency",
    sql: `SELECT format('account %s, entry %s', e.account_id, e.seq) FROM ledger_entry e
      LEFT JOIN ledger_account a ON a.project_id = e.project_id AND a.id = e.account_id
      LEFT JOIN ledger_transaction t ON t.project_id = e.project_id AND t.id = e.transaction_id
      WHERE a.id IS NULL OR t.id IS NULL OR a.currency <> e.currency`,
  },
  {
    rule: "an opening opened its account",
    sql: `SELECT format('transaction %s', t.id) FROM ledger_transaction t LEFT JOIN ledger_account a ON a.project_id = t.project_id AND a.id = t.id
      WHERE t.kind = 'open' AND a.id IS NULL`,
  },
];

interface Row {
  readonly [column: string]: string;
}

const check = async (client: pg.ClientBase, { rule, sql }: Rule): Promise<string[]> => {
  const { rows } = await client.query<[string]>({
    text: `SELECT * FROM (${sql}) broken (what) LIMIT ${String(EXAMPLES_MAX + 1)}`,
    rowMode: "array",
  });
  const named = rows.slice(0, EXAMPLES_MAX).map(([what]) => `Broken: ${rule}: ${what}.`);
  return rows.length > EXAMPLES_MAX ? [...named, `Broken: ${rule}: and more.`] : named;
};

const readFigures = async (client: pg.ClientBase): Promise<LedgerFigures> => {
  const [counts] = (await client.query<Row>(FIGURES)).rows;
  const liabilities = (await client.query<{ currency: string; owed: string }>(LIABILITIES))
    .rows;
  return {
    accounts: Number(counts?.accounts),
    transactions: Number(counts?.transactions),
    rejected: Number(counts?.rejected),
    entries: Number(counts?.entries),
    reversals: Number(counts?.reversals),
    liabilities: Object.fromEntries(liabilities.map(({ currency, owed }) => [currency, owed])),
  };
};

/**
 * Recomputes all sums in one database snapshot, so it may run while the ledger posts. It reads all
 * entries several times.
 */
export const verifyLedger = async (pool: Pick<pg.Pool, "connect">): Promise<LedgerReport> => {
  const client = await pool.connect();
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const violations: string[] = [];
    for (const rule of RULES) violations.push(...(await check(client, rule)));
    const figures = await readFigures(client);
    await client.query("COMMIT");
    client.release();
    return { figures, violations };
  } catch (error) {
    client.release(true);
    throw error;
  }
};
