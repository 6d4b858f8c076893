import { binaryUuids } from "@/lib/platform/db/binary-uuids";
import { PLANNED_EACH_RUN, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import {
  refuseDuplicates,
  repeatedWithin,
  type DuplicateRow,
  type RowKeys,
} from "./duplicate-rows";
import { IN_DOUBT_CODE } from "./errors";

/** Days after which an equal payment no longer counts as a duplicate. */
const DUPLICATE_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * The number of advisory locks of a project. Concurrent payouts with an equal row use the same lock
 * and wait for each other. Other payouts wait only when their keys happen to share a lock.
 */
const LOCKS = 64;

// Takes locks that end with the transaction. Every transaction takes them in ascending order, which
// prevents deadlocks.
const LOCK = `
  SELECT pg_advisory_xact_lock(hashtext('payout_row_key:' || $1), lock) FROM unnest(string_to_array($2, ',')::int[]) AS lock`;

// Looks up each key separately: OFFSET 0 keeps PostgreSQL from joining the keys with all keys of
// the project. Looks up each row of a found key separately too: PostgreSQL does not turn a subquery
// with LIMIT into a join, and a join of tables without statistics would read all of the project's
// rows. A row counts when it was paid or may still be paid, which includes rows of a batch in doubt
// ($4). A row does not count when the row, its batch or its payout failed, expired or was
// cancelled.
const EARLIER = `${PLANNED_EACH_RUN}
  WITH found AS MATERIALIZED (
    SELECT request.place, k.payout_id, k.index, k.created_at
    FROM unnest($2::uuid[]) WITH ORDINALITY AS request (key, place) CROSS JOIN LATERAL (
      SELECT payout_id, index, created_at FROM payout_row_key
      WHERE project_id = $1 AND row_key = uuid_send(request.key) AND created_at > $3::timestamptz OFFSET 0
    ) k
  )
  SELECT DISTINCT ON (found.place) found.place::int, found.payout_id, found.created_at
  FROM found
  CROSS JOIN LATERAL (
    SELECT status FROM payout WHERE project_id = $1 AND id = found.payout_id LIMIT 1
  ) p
  LEFT JOIN LATERAL (
    SELECT status FROM payout_item
    WHERE project_id = $1 AND payout_id = found.payout_id AND index = found.index LIMIT 1
  ) ended ON true
  LEFT JOIN LATERAL (
    SELECT status, batch FROM wallet_payout_item
    WHERE project_id = $1 AND payout_id = found.payout_id AND index = found.index LIMIT 1
  ) item ON true
  LEFT JOIN LATERAL (
    SELECT state, failure FROM wallet_payout_batch
    WHERE project_id = $1 AND payout_id = found.payout_id AND number = item.batch LIMIT 1
  ) batch ON true
  WHERE p.status NOT IN ('cancelled', 'expired') AND ended.status IS DISTINCT FROM 'failed' AND item.status IS NULL
    AND (p.status <> 'failed' AND (batch.state IS NULL OR batch.state NOT IN ('failed', 'cancelled'))
      OR batch.state = 'failed' AND batch.failure->>'code' = $4)
  ORDER BY found.place, found.created_at DESC`;

// Sorts the keys in the order of the index, so that the insert visits fewer pages of the index.
const INSERT = `
  INSERT INTO payout_row_key (project_id, row_key, payout_id, index, created_at)
  SELECT $1, uuid_send(request.key), $3, request.place - 1, $4::timestamptz
  FROM unnest($2::uuid[]) WITH ORDINALITY AS request (key, place)
  ORDER BY request.key`;

interface EarlierRow {
  /** Position of the row's key in the parameter, from 1. */
  readonly place: number;
  readonly payout_id: string;
  readonly created_at: Date;
}

/** Finds rows whose payment another payout of the last 30 days has made or may still make. */
const paidEarlier = async (
  sql: SqlReader,
  projectId: string,
  { keys, now }: RowKeys,
): Promise<DuplicateRow[]> => {
  const since = new Date(now.getTime() - DUPLICATE_DAYS * DAY_MS);
  const values = [projectId, binaryUuids(keys), since, IN_DOUBT_CODE];
  const rows = await sql.query<EarlierRow>(EARLIER, values);
  return rows.map((row) => ({
    index: row.place - 1,
    earlier: { payoutId: row.payout_id, at: row.created_at },
  }));
};

/**
 * Returns the numbers of the locks for these keys, in ascending order. Equal keys always have the
 * same lock.
 */
const locksOf = (keys: readonly string[]): number[] => {
  const locks = new Set<number>();
  for (const key of keys) {
    locks.add(Number.parseInt(key.slice(0, 2), 16) % LOCKS);
    if (locks.size === LOCKS) break;
  }
  return [...locks].sort((one, other) => one - other);
};

/**
 * Locks the keys until the transaction ends. When equal requests run at the same time, the first
 * one stores its keys, and all others then find the duplicates.
 */
export const lockRowKeys = async (
  sql: Sql,
  projectId: string,
  { keys }: RowKeys,
): Promise<void> => {
  await sql.change(LOCK, [projectId, locksOf(keys).join(",")]);
};

/**
 * Finds the rows of a new payout that repeat an earlier payment, or an earlier row of the same
 * payout.
 * @param sql the READ COMMITTED transaction that ran `lockRowKeys` and will store the keys. The
 * search is a later statement than the lock, so it sees keys that were committed while the
 * transaction waited for the lock. Any reader may be used when nothing will be stored.
 * @returns the duplicates that were allowed, each once, in the order of the rows
 * @throws DomainError `duplicate_payout` naming every duplicate row
 */
export const findDuplicates = async (
  sql: SqlReader,
  projectId: string,
  keys: RowKeys,
): Promise<DuplicateRow[]> => {
  const found = new Map(repeatedWithin(keys.keys).map((each) => [each.index, each]));
  for (const each of await paidEarlier(sql, projectId, keys)) found.set(each.index, each);
  const duplicates = [...found.values()].sort((one, other) => one.index - other.index);
  if (!keys.allowDuplicates) refuseDuplicates(duplicates);
  return duplicates;
};

/** Stores the keys of a payout's rows, in the transaction that ran `lockRowKeys`. */
export const insertRowKeys = async (
  sql: Sql,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  { keys, now }: RowKeys,
): Promise<void> => {
  await sql.change(INSERT, [projectId, binaryUuids(keys), id, now.toISOString()]);
};
