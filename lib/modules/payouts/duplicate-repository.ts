import { binaryUuids } from "@/lib/db/binary-uuids";
import { PLANNED_EACH_RUN, type Sql, type SqlReader } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import { IN_DOUBT_CODE } from "./wallets/batches/doubt-code";
import { refuseDuplicates, repeatedWithin, type DuplicateRow, type RowKeys } from "./duplicate-rows";
import type { Candidates, KeyFilters } from "./key-filters";

/** Days after which an equal payment is no longer a duplicate. */
const DUPLICATE_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
/** The number of advisory locks. Payouts with an equal row share a lock and wait for each other; other payouts rarely do. */
const LOCKS = 64;

// Transaction-level locks. Every transaction takes them in the same order, which prevents deadlocks.
const LOCK = `
  SELECT pg_advisory_xact_lock(hashtext('payout_row_key:' || $1), lock) FROM unnest(string_to_array($2, ',')::int[]) AS lock`;

// Each key is looked up separately (OFFSET 0 prevents a join with all keys of the project). A row counts when it was paid or may still
// be paid, also where its batch is in doubt ($4). It does not count when the row, its batch or its payout failed or was cancelled.
const EARLIER = `${PLANNED_EACH_RUN}
  WITH asked AS MATERIALIZED (
    SELECT asked.key::uuid AS key, asked.index::int AS index
    FROM unnest(string_to_array($2, ',')) WITH ORDINALITY AS asked (key, index)
  ), found AS MATERIALIZED (
    SELECT asked.index, k.payout_id, k.index AS row, k.created_at
    FROM asked CROSS JOIN LATERAL (
      SELECT payout_id, index, created_at FROM payout_row_key
      WHERE project_id = $1 AND row_key = uuid_send(asked.key) AND created_at > $3::timestamptz OFFSET 0
    ) k
    UNION ALL
    SELECT asked.index, n.payout_id, n.place::int - 1, n.created_at
    FROM (
      SELECT p.payout_id, p.created_at, listed.key, listed.place
      FROM payout_new_keys p CROSS JOIN LATERAL unnest(p.keys) WITH ORDINALITY AS listed (key, place)
      WHERE p.project_id = $1 AND p.created_at > $3::timestamptz
    ) n JOIN asked ON asked.key = n.key
  )
  SELECT DISTINCT ON (found.index) found.index, found.payout_id, found.created_at
  FROM found
  JOIN payout p ON p.project_id = $1 AND p.id = found.payout_id AND p.status NOT IN ('cancelled', 'expired')
  LEFT JOIN payout_item ended ON ended.project_id = $1 AND ended.payout_id = found.payout_id AND ended.index = found.row
  LEFT JOIN wallet_payout_item item ON item.project_id = $1 AND item.payout_id = found.payout_id AND item.index = found.row
  LEFT JOIN wallet_payout_batch batch
    ON batch.project_id = $1 AND batch.payout_id = found.payout_id AND batch.number = item.batch
  WHERE ended.status IS DISTINCT FROM 'failed' AND item.status IS NULL
    AND (p.status <> 'failed' AND (batch.state IS NULL OR batch.state NOT IN ('failed', 'cancelled'))
      OR batch.state = 'failed' AND batch.failure->>'code' = $4)
  ORDER BY found.index, found.created_at DESC`;

const INSERT = `
  INSERT INTO payout_new_keys (project_id, payout_id, created_at, keys)
  VALUES ($1, $3, $4::timestamptz, $2::uuid[])`;

const NEW_KEYS = "SELECT project_id, payout_id FROM payout_new_keys ORDER BY created_at LIMIT $1::int";
// Moves the keys of a payout in one statement, so that every reader finds each key in exactly one of the two tables. They are inserted in the order of
// the index, because that takes fewer visits to its pages.
const MOVE = `
  WITH taken AS (
    DELETE FROM payout_new_keys WHERE project_id = $1 AND payout_id = $2 RETURNING created_at, keys
  )
  INSERT INTO payout_row_key (project_id, row_key, payout_id, index, created_at)
  SELECT $1, uuid_send(listed.key), $2, listed.place - 1, taken.created_at
  FROM taken CROSS JOIN LATERAL unnest(taken.keys) WITH ORDINALITY AS listed (key, place)
  ORDER BY listed.key`;
/** Payouts whose keys are moved before it is looked for more. */
const MOVED_AT_ONCE = 50;

interface EarlierRow {
  readonly index: number;
  readonly payout_id: string;
  readonly created_at: Date;
}

/**
 * Rows that another payout of the last 30 days has paid or may still pay.
 * @param positions of the keys to search; null: all
 */
const paidEarlier = async (
  sql: SqlReader,
  projectId: string,
  { keys, now }: Pick<RowKeys, "keys" | "now">,
  positions: readonly number[] | null,
): Promise<DuplicateRow[]> => {
  const asked = positions?.map((position) => keys[position]) ?? keys;
  if (asked.length === 0) return [];
  const since = new Date(now.getTime() - DUPLICATE_DAYS * DAY_MS);
  const rows = await sql.query<EarlierRow>(EARLIER, [projectId, asked.join(","), since, IN_DOUBT_CODE]);
  return rows.map((row) => ({
    index: positions?.[row.index - 1] ?? row.index - 1,
    earlier: { payoutId: row.payout_id, at: row.created_at },
  }));
};

/**
 * All duplicate rows, each once, in their order.
 * @param positions of the keys that payments, or earlier keys of the list, may have; null: all
 */
export const duplicatesOf = async (
  sql: SqlReader,
  projectId: string,
  keys: RowKeys,
  positions: readonly number[] | null = null,
): Promise<DuplicateRow[]> => {
  if (positions?.length === 0) return [];
  const found = new Map(repeatedWithin(keys.keys).map((each) => [each.index, each]));
  for (const each of await paidEarlier(sql, projectId, keys, positions)) found.set(each.index, each);
  return [...found.values()].sort((one, other) => one.index - other.index);
};

/** Locks for these keys, in ascending order: rows that are equal always share one. */
const locksOf = (keys: readonly string[]): number[] => {
  const locks = new Set<number>();
  for (const key of keys) {
    locks.add(Number.parseInt(key.slice(0, 2), 16) % LOCKS);
    if (locks.size === LOCKS) break;
  }
  return [...locks].sort((one, other) => one - other);
};

/** A payout that is being stored. */
interface Claimant {
  readonly id: string;
  readonly projectId: string;
}

const ALL_LOCKS = Array.from({ length: LOCKS }, (_, lock) => lock);

/** So many keys have nearly always one for each lock. */
export const KEYS_OF_ALL_LOCKS = 500;

/**
 * Locks keys until the transaction ends, so that of concurrent equal requests all but the first find the duplicates.
 * @param keys null: any
 */
export const lockRowKeys = async (sql: Sql, projectId: string, keys: readonly string[] | null): Promise<void> => {
  await sql.change(LOCK, [projectId, (keys === null ? ALL_LOCKS : locksOf(keys)).join(",")]);
};

/**
 * Finds the rows of a new payout that repeat an earlier payment, or an earlier row of the same list.
 * @param sql of the transaction that stores the payout, and has locked its keys with `lockRowKeys`
 * @param candidates read in this transaction after the lock; null: every key is searched
 * @returns the duplicates that were allowed
 * @throws DomainError `duplicate_payout` naming every duplicate row
 */
export const findDuplicates = async (
  sql: Sql,
  projectId: string,
  keys: RowKeys,
  candidates: Candidates | null,
): Promise<DuplicateRow[]> => {
  const duplicates = await duplicatesOf(sql, projectId, keys, candidates?.(keys.keys) ?? null);
  if (!keys.allowDuplicates) refuseDuplicates(duplicates);
  return duplicates;
};

/** Stores the keys of a payout's rows, as a part of the transaction that has locked them. */
export const newKeysPart = ({ id, projectId }: Claimant, { keys, now }: RowKeys): StatementPart => ({
  text: INSERT,
  values: [projectId, binaryUuids(keys), id, now.toISOString()],
});

/** Locks the keys, looks for duplicates as `findDuplicates` does, and stores the keys in the same transaction. */
export const claimRowKeys = async (
  sql: Sql,
  payout: Claimant,
  keys: RowKeys,
  filters: Pick<KeyFilters, "read">,
): Promise<DuplicateRow[]> => {
  await lockRowKeys(sql, payout.projectId, keys.keys);
  const candidates = await filters.read(sql, payout, keys.keys.length);
  const duplicates = await findDuplicates(sql, payout.projectId, keys, candidates);
  const { text, values } = newKeysPart(payout, keys);
  await sql.change(text, values);
  return duplicates;
};

/** As `indexNewKeys`, for one payout. */
export const indexKeysOf = async (sql: Sql, projectId: string, payoutId: string): Promise<void> => {
  await sql.change(MOVE, [projectId, payoutId]);
};

/**
 * Moves the keys of accepted payouts to the table in which they are found by an index. Until then they are found too, each payout in the
 * time that reading all of its keys takes. Safe beside itself.
 * @returns how many payouts' keys were moved
 */
export const indexNewKeys = async (sql: Sql): Promise<number> => {
  let moved = 0;
  for (;;) {
    const found = await sql.query<{ project_id: string; payout_id: string }>(NEW_KEYS, [MOVED_AT_ONCE]);
    for (const { project_id: projectId, payout_id: payoutId } of found) await indexKeysOf(sql, projectId, payoutId);
    moved += found.length;
    if (found.length < MOVED_AT_ONCE) return moved;
  }
};
