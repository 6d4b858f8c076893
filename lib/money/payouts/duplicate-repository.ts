import { binaryUuids } from "@/lib/platform/db/binary-uuids";
import { PLANNED_EACH_RUN, type Sql, type SqlReader } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { int, table, text, time } from "@/lib/platform/db/table";
import {
  refuseDuplicates,
  repeatedWithin,
  type DuplicateRow,
  type RowKeys,
} from "./duplicate-rows";
import { IN_DOUBT_CODE } from "./errors";

/** Days after which an equal payment is no longer a duplicate. */
const DUPLICATE_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * The number of advisory locks of a project. Concurrent payouts with an equal row use one lock and
 * wait for each other. Payouts without an equal row wait only when their keys happen to share a
 * lock.
 */
const LOCKS = 64;

const earlierRows = table({
  /** Position of the row's key in the list of keys, from 1. */
  place: int,
  payoutId: text,
  createdAt: time,
});

/**
 * Finds rows whose payment another payout of the last 30 days has made or may still make. A row
 * counts when it was paid or may still be paid, which includes rows of a batch in doubt. A row does
 * not count when the row, its batch or its payout failed, expired or was cancelled.
 */
const paidEarlier = async (
  db: SqlReader,
  projectId: string,
  { keys, now }: RowKeys,
): Promise<DuplicateRow[]> => {
  const since = new Date(now.getTime() - DUPLICATE_DAYS * DAY_MS);
  // Looks up each key separately: OFFSET 0 stops PostgreSQL from joining the keys with all keys of
  // the project. Looks up each row of a found key separately too: PostgreSQL does not turn a
  // subquery with LIMIT into a join, and a join of tables without statistics would read all of the
  // project's rows.
  const found = await earlierRows.all(
    db,
    sql`${raw(PLANNED_EACH_RUN)}
      WITH found AS MATERIALIZED (
        SELECT request.place, k.payout_id, k.index, k.created_at
        FROM unnest(${binaryUuids(keys)}::uuid[]) WITH ORDINALITY AS request (key, place)
        CROSS JOIN LATERAL (
          SELECT payout_id, index, created_at FROM payout_row_key
          WHERE project_id = ${projectId}
            AND row_key = uuid_send(request.key)
            AND created_at > ${since}::timestamptz
          OFFSET 0
        ) k
      )
      SELECT DISTINCT ON (found.place)
        found.place::int AS place, found.payout_id AS "payoutId", found.created_at AS "createdAt"
      FROM found
      CROSS JOIN LATERAL (
        SELECT status FROM payout
        WHERE project_id = ${projectId} AND id = found.payout_id
        LIMIT 1
      ) p
      LEFT JOIN LATERAL (
        SELECT status FROM payout_item
        WHERE project_id = ${projectId}
          AND payout_id = found.payout_id
          AND index = found.index
        LIMIT 1
      ) ended ON true
      LEFT JOIN LATERAL (
        SELECT status, batch FROM wallet_payout_item
        WHERE project_id = ${projectId}
          AND payout_id = found.payout_id
          AND index = found.index
        LIMIT 1
      ) item ON true
      LEFT JOIN LATERAL (
        SELECT state, failure FROM wallet_payout_batch
        WHERE project_id = ${projectId}
          AND payout_id = found.payout_id
          AND number = item.batch
        LIMIT 1
      ) batch ON true
      WHERE p.status NOT IN ('cancelled', 'expired')
        AND ended.status IS DISTINCT FROM 'failed'
        AND item.status IS NULL
        AND (
          p.status <> 'failed'
          AND (batch.state IS NULL OR batch.state NOT IN ('failed', 'cancelled'))
          OR batch.state = 'failed' AND batch.failure->>'code' = ${IN_DOUBT_CODE}
        )
      ORDER BY found.place, found.created_at DESC`,
  );
  return found.map(({ place, payoutId, createdAt }) => ({
    index: place - 1,
    earlier: { payoutId, at: createdAt },
  }));
};

/**
 * Returns the numbers of the locks for these keys, in ascending order. Equal keys have the same
 * lock.
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
 * Locks the keys until the transaction ends. Of several requests with equal rows that run at the
 * same time, the first stores its keys, and the others then find the duplicates.
 */
export const lockRowKeys = async (
  db: Sql,
  projectId: string,
  { keys }: RowKeys,
): Promise<void> => {
  // Every transaction acquires the locks in ascending order, which prevents deadlocks.
  await db.change(sql`
    SELECT pg_advisory_xact_lock(hashtext('payout_row_key:' || ${projectId}::text), lock)
    FROM unnest(string_to_array(${locksOf(keys).join(",")}, ',')::int[]) AS lock`);
};

/**
 * Finds the rows of a new payout that repeat an earlier payment, or an earlier row of the payout.
 * @param db the READ COMMITTED transaction that ran `lockRowKeys` and will store the keys. The
 * search is a later statement than the lock, so it sees keys that were committed while the
 * transaction waited for the lock. Any reader may be used when nothing will be stored.
 * @returns the duplicates that were allowed, each once, in the order of the rows
 * @throws DomainError `duplicate_payout` naming every duplicate row
 */
export const findDuplicates = async (
  db: SqlReader,
  projectId: string,
  keys: RowKeys,
): Promise<DuplicateRow[]> => {
  const found = new Map(repeatedWithin(keys.keys).map((each) => [each.index, each]));
  for (const each of await paidEarlier(db, projectId, keys)) found.set(each.index, each);
  const duplicates = [...found.values()].sort((one, other) => one.index - other.index);
  if (!keys.allowDuplicates) refuseDuplicates(duplicates);
  return duplicates;
};

/** Stores the keys of a payout's rows. Call it in the transaction that ran `lockRowKeys`. */
export const insertRowKeys = async (
  db: Sql,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  { keys, now }: RowKeys,
): Promise<void> => {
  // Sorts the keys in the order of the index, so that the insert visits fewer pages of the index.
  await db.change(sql`
    INSERT INTO payout_row_key (project_id, row_key, payout_id, index, created_at)
    SELECT ${projectId}, uuid_send(request.key), ${id}, request.place - 1, ${now}::timestamptz
    FROM unnest(${binaryUuids(keys)}::uuid[]) WITH ORDINALITY AS request (key, place)
    ORDER BY request.key`);
};
