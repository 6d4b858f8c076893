/** Reads the keys of a project's payments for its filter: all of them once, and then those that were added. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import { PREFIX_BYTES, prefixesOf, prefixesOfBytes, type Prefixes } from "./key-filter";

/** The state of the database that a statement saw. */
export interface Seen {
  /** Ids of transactions mean something only while this stays the same. */
  readonly server: string;
  /** The transactions whose changes the statement saw, in the text form of PostgreSQL's `pg_snapshot`. */
  readonly snapshot: string;
  /** Seconds since 1970, by the clock of the database. */
  readonly at: number;
}

// The server was not restarted, did not crash, and has the same table.
const SERVER = `concat_ws(' ', pg_postmaster_start_time(), pg_relation_filenode('payout_row_key'), (SELECT coalesce(min(id::text), random()::text) FROM server_life))`;
const SEEN = `${SERVER} AS server, pg_current_snapshot()::text AS snapshot, extract(epoch FROM statement_timestamp())::float8 AS at`;

const BEGIN_LIFE = "INSERT INTO server_life DEFAULT VALUES ON CONFLICT DO NOTHING";

// One statement, so that the snapshot is the one by which the keys were read. Without the trigger nothing lists the keys that are added.
// Earlier payments of more than 30 days do not count.
const ALL = `
  SELECT ${SEEN},
    EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'payout_row_key'::regclass AND tgname = 'list_payout_keys' AND tgenabled <> 'D') AS "isListed",
    (SELECT string_agg(key, '') FROM (
      SELECT substring(row_key FOR ${String(PREFIX_BYTES)}) AS key FROM payout_row_key
      WHERE project_id = $1 AND created_at > now() - interval '31 days' LIMIT $2::int) indexed) AS prefixes,
    (SELECT string_agg(array_to_string(keys, ','), ',') FROM payout_new_keys WHERE project_id = $1) AS keys`;

// $3: payouts whose keys were read already; $4: most bytes of keys. Their size is known without reading them.
const ADDED = `
  WITH listed AS MATERIALIZED (
    SELECT payout_id, keys FROM (
      SELECT payout_id, keys, transaction_id FROM payout_new_keys WHERE project_id = $1
      UNION ALL
      SELECT payout_id, keys, transaction_id FROM payout_key_list
      WHERE project_id = $1 AND transaction_id >= pg_snapshot_xmin($2::pg_snapshot)
    ) stored
    WHERE (transaction_id IS NULL OR NOT pg_visible_in_snapshot(transaction_id, $2::pg_snapshot))
      AND payout_id <> ALL(string_to_array($3, ','))
  ), size AS (SELECT coalesce(sum(pg_column_size(keys)), 0) <= $4::int AS fits FROM listed)
  SELECT ${SEEN}, size.fits, CASE WHEN size.fits THEN (
    SELECT json_agg(json_build_array(payout_id, array_to_string(keys, ','))) FROM listed) END AS added
  FROM size`;

interface AllRow extends Seen {
  readonly isListed: boolean;
  readonly prefixes: Buffer | null;
  /** UUIDs with commas between. */
  readonly keys: string | null;
}

interface AddedRow extends Seen {
  readonly fits: boolean;
  readonly added: readonly (readonly [payoutId: string, uuids: string])[] | null;
}

const KEY_BYTES = 16;

const prefixesOfUuids = (uuids: string): Prefixes => prefixesOf(uuids.replaceAll("-", "").split(","));

/**
 * All keys of a project that a payment may repeat.
 * @param max of the keys that have an index; where there are more, some are missing
 * @returns null where added keys are not listed
 */
export const readKeys = async (
  sql: Sql,
  projectId: string,
  max: number,
): Promise<{ readonly seen: Seen; readonly parts: readonly Prefixes[] } | null> => {
  await sql.change(BEGIN_LIFE, []);
  const [row] = await sql.query<AllRow>(ALL, [projectId, max]);
  if (row === undefined || !row.isListed) return null;
  const { server, snapshot, at, prefixes, keys } = row;
  const parts = [
    ...(prefixes === null ? [] : [prefixesOfBytes(prefixes)]),
    ...(keys === null ? [] : [prefixesOfUuids(keys)]),
  ];
  return { seen: { server, snapshot, at }, parts };
};

/** The keys of a payout. */
interface AddedKeys {
  readonly payoutId: string;
  readonly prefixes: Prefixes;
}

/**
 * The keys of payouts that `since` did not see.
 * @param read payouts that are left out
 * @returns `added` is null where more than `max` keys were added
 */
export const readAddedKeys = async (
  sql: SqlReader,
  projectId: string,
  { since, read, max }: { readonly since: Seen; readonly read: Iterable<string>; readonly max: number },
): Promise<{ readonly seen: Seen; readonly added: readonly AddedKeys[] | null }> => {
  const values = [projectId, since.snapshot, [...read].join(","), max * KEY_BYTES];
  const [row] = await sql.query<AddedRow>(ADDED, values);
  if (row === undefined) throw new Error("A SELECT without a condition returned no row.");
  const { server, snapshot, at, fits } = row;
  const added = (row.added ?? []).map(([payoutId, uuids]) => ({ payoutId, prefixes: prefixesOfUuids(uuids) }));
  return { seen: { server, snapshot, at }, added: fits ? added : null };
};
