/**
 * A project with a closed month: operations that ended and one that did not, their events,
 * deliveries, and a ledger.
 */
import { rm } from "node:fs/promises";
import pg from "pg";
import { newId } from "@/lib/core/ids";
import { afterFile } from "./after-file";
import { testDatabase } from "./database";
import { makeWorkspace } from "./workspace";

export const MONTH = "2026-01";
/** SQL for the time of most rows, in the middle of the month. */
const AT = "timestamptz '2026-01-15 12:00:00.123Z'";
const LATER = "timestamptz '2026-03-01 00:00:00Z'";
/** SQL for the id of the n-th transaction of the month, without its prefix. */
const TRANSACTION = `(lpad(to_hex((extract(epoch FROM ${AT}) * 1000)::bigint), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid`;

/** Inserts the operations `op_ended_N`, which have ended, and `op_open`, which is in progress. */
const OPERATIONS = `
  INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at, updated_at)
  SELECT 'op_ended_' || n, $1, 'transfer', 'completed', 'full', '{}'::jsonb, '{}'::jsonb, 0, 'test', '{}'::text[], ${AT}, ${AT} FROM generate_series(1, $2::int) n
  UNION ALL SELECT 'op_open', $1, 'transfer', 'processing', 'bridging', '{}', '{}', 0, 'test', '{}', ${AT}, ${AT}`;
const EVENTS = `
  INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
  SELECT $1, row_number() OVER (ORDER BY n, step), 'evt_' || n || '_' || step, 'operation.processing', 'op_ended_' || n, step,
    json_build_object('operationId', 'op_ended_' || n, 'note', E'two\\n"lines", and ü'), n % 2 = 0, ${AT} + step * interval '1 ms'
  FROM generate_series(1, $2::int) n, generate_series(1, 3) step`;
const OTHER_EVENTS = `
  INSERT INTO event (project_id, sequence, id, type, object_id, object_sequence, payload, private, created_at)
  SELECT $1, $2::int + n, 'evt_other_' || n, type, object, place, json_build_object('operationId', operation), false,
    CASE WHEN n = 7 THEN ${LATER} ELSE ${AT} END
  FROM (VALUES (1, 'operation.processing', 'op_open', 1, 'op_open'), (2, 'operation.processing', 'op_open', 2, 'op_open'),
    (3, 'transfer.processing', 'tr_open', 1, 'op_open'), (4, 'transfer.processing', 'tr_open', 2, 'op_open'),
    (5, 'payout.processing', 'po_waits', 1, null), (6, 'payout.completed', 'po_waits', 2, null), (7, 'payout.completed', 'po_waits', 3, null))
    AS e (n, type, object, place, operation)`;
/**
 * Inserts three deliveries: of event 1 (delivered), of the fifth event of `OTHER_EVENTS` (pending),
 * and of event 3 (failed).
 */
const DELIVERIES = `
  INSERT INTO webhook_delivery (project_id, id, endpoint_id, kind, event_id, event_type, sequence, object_id, status, attempts, due_at, created_at,
    completed_at, last_status, last_error)
  SELECT $1, 'dlv_' || n, 'we_1', 'event', 'evt_x', 'operation.processing', CASE n WHEN 2 THEN $2::int + 5 ELSE n END, 'op', status, 1, ${AT}, ${AT},
    CASE WHEN status <> 'pending' THEN ${AT} END, 500, CASE n WHEN 1 THEN '' END
  FROM (VALUES (1, 'delivered'), (2, 'pending'), (3, 'failed')) AS d (n, status)`;
const ATTEMPTS = `
  INSERT INTO webhook_attempt (project_id, delivery_id, number, at, duration_ms, url, request_headers, request_body, status_code, response_body)
  SELECT $1, 'dlv_' || n, 1, timestamptz '2026-02-01 00:00:01Z', 5, 'https://x.test', '{"a":  "b"}', E'{"x": "\\\\u0000"}', 500, NULL
  FROM generate_series(1, 3) n`;

const ACCOUNTS = `
  INSERT INTO ledger_account (id, project_id, currency, kind, status, minimum, balance, version, last_seq, created_at, updated_at)
  VALUES ($2, $1, 'usdc', 'customer', 'active', 0, 90, 4, 4, ${AT}, ${AT}), ($3, $1, 'usdc', 'customer', 'active', 0, 10, 1, 1, ${AT}, ${AT}),
    ($4, $1, 'usdc', 'treasury_reserve', 'active', NULL, -100, 3, 3, ${AT}, ${AT})`;
const TRANSACTIONS = `
  INSERT INTO ledger_transaction (id, project_id, kind, scope, idempotency_key, key_hash, request_digest, created_by, created_at)
  SELECT ${TRANSACTION}, $1, CASE n WHEN 4 THEN 'transfer' ELSE 'fund' END, 'test', 'key ' || n,
    left(encode(sha256(convert_to($1 || chr(31) || 'test' || chr(31) || 'key ' || n, 'UTF8')), 'hex'), 32)::uuid, sha256('x'), 'test', ${AT}
  FROM generate_series(1, 4) n`;
const ENTRIES = `
  INSERT INTO ledger_entry (project_id, account_id, seq, transaction_id, currency, amount, balance_after, created_at)
  SELECT $1, account, seq, ${TRANSACTION}, 'usdc', amount, after, ${AT} FROM (
    SELECT n, $2::uuid AS account, n AS seq, CASE n WHEN 1 THEN 20 WHEN 2 THEN 30 WHEN 3 THEN 50 ELSE -10 END AS amount,
      CASE n WHEN 1 THEN 20 WHEN 2 THEN 50 WHEN 3 THEN 100 ELSE 90 END AS after FROM generate_series(1, 4) n
    UNION ALL SELECT 4, $3::uuid, 1, 10, 10
    UNION ALL SELECT n, $4::uuid, n, -20 - 10 * (n - 1) - CASE n WHEN 3 THEN 10 ELSE 0 END, CASE n WHEN 1 THEN -20 WHEN 2 THEN -50 ELSE -100 END
      FROM generate_series(1, 3) n
  ) e (n, account, seq, amount, after)`;

const TABLES = [
  "event",
  "webhook_delivery",
  "webhook_attempt",
  "ledger_transaction",
  "ledger_entry",
] as const;

/**
 * A separate database with a month that may be archived. `url` and `pool` use the owner's role,
 * `database` the service's.
 * @param ended number of ended operations, with three events each
 */
export const archivedMonth = async ({ ended }: { readonly ended: number }) => {
  const { ownerUrl: url, database } = await testDatabase();
  const { folder, remove } = await makeWorkspace();
  afterFile(remove);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  afterFile(() => pool.end());
  const projectId = newId("project");
  const accountId = newId("globalAccount");
  const bare = (id: string): string => id.slice(id.indexOf("_") + 1);
  const accounts = [
    bare(accountId),
    bare(newId("globalAccount")),
    bare(newId("globalAccount")),
  ];
  await pool.query("INSERT INTO project (id, name, created_at) VALUES ($1, 'test', now())", [
    projectId,
  ]);
  await pool.query(OPERATIONS, [projectId, ended]);
  await pool.query(EVENTS, [projectId, ended]);
  await pool.query(OTHER_EVENTS, [projectId, ended * 3]);
  await pool.query("INSERT INTO event_counter VALUES ($1, $2)", [projectId, ended * 3 + 7]);
  await pool.query(DELIVERIES, [projectId, ended * 3]);
  await pool.query(ATTEMPTS, [projectId]);
  await pool.query(ACCOUNTS, [projectId, ...accounts]);
  await pool.query(TRANSACTIONS, [projectId]);
  await pool.query(ENTRIES, [projectId, ...accounts]);

  /** All rows of each archived table, by the table's name, one text for each row. */
  const rows = async (): Promise<Record<string, string[]>> => {
    const all = await Promise.all(
      TABLES.map(async (table) => {
        const { rows: found } = await pool.query<{ row: string }>(
          `SELECT t::text AS row FROM ${table} t ORDER BY 1`,
        );
        return [table, found.map(({ row }) => row)] as const;
      }),
    );
    return Object.fromEntries(all);
  };
  const directory = `${folder}/archive`;
  return {
    url,
    database,
    pool,
    projectId,
    accountId,
    directory,
    request: { url, month: MONTH, directory },
    rows,
    /** Sequence numbers of the events that the table `event` still contains. */
    sequences: async (): Promise<number[]> => {
      const { rows: found } = await pool.query<{ n: number }>(
        "SELECT sequence::int AS n FROM event ORDER BY 1",
      );
      return found.map(({ n }) => n);
    },
    state: async (): Promise<string | undefined> =>
      (await pool.query<{ state: string }>("SELECT state FROM archive_month")).rows[0]?.state,
    forgetFiles: () => rm(directory, { recursive: true, force: true }),
  };
};
