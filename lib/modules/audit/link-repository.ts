import { firstIdAt } from "@/lib/core/ids";
import type { Sql } from "@/lib/db/sql";
import type { AuditColumns } from "./audit-event";
import type { Head } from "./chain";

/** An advisory lock of the transaction: one instance links at a time. */
const LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended('causeway.audit-link', 0)) AS held";

/** The columns of an audit row, by the names of `AuditColumns`. */
export const EVENT_COLUMNS = `event.id, event.project_id AS "projectId", event.actor, event.action, event.subject, event.data,
  event.request_id AS "requestId", event.client_address AS "clientAddress", event.created_at AS "createdAt"`;

const TAKE = `
  WITH taken AS (
    DELETE FROM audit_unlinked WHERE event_id IN (
      SELECT event_id FROM audit_unlinked ORDER BY event_id LIMIT $1::int FOR UPDATE SKIP LOCKED
    ) RETURNING event_id
  )
  SELECT ${EVENT_COLUMNS} FROM audit_event event JOIN taken ON taken.event_id = event.id
  WHERE NOT EXISTS (SELECT FROM audit_link link WHERE link.event_id = event.id) ORDER BY event.id`;

const INSERT_LINKS = `
  INSERT INTO audit_link (chain, seq, event_id, hash)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bytea[])`;

const WRITE_HEADS = `
  INSERT INTO audit_head (chain, seq, hash, mac, key_id, updated_at)
  SELECT chain, seq, hash, mac, $5, now() FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bytea[]) AS head (chain, seq, hash, mac)
  ON CONFLICT (chain) DO UPDATE SET seq = EXCLUDED.seq, hash = EXCLUDED.hash, mac = EXCLUDED.mac, key_id = EXCLUDED.key_id,
    updated_at = EXCLUDED.updated_at`;

/**
 * Puts rows without a link among those that wait for one. Processes of a version without chains write such rows while they run beside
 * new processes during an upgrade.
 */
const FIND_LEFT_OUT = `
  INSERT INTO audit_unlinked (event_id)
  SELECT event.id FROM audit_event event LEFT JOIN audit_link link ON link.event_id = event.id
  WHERE event.id > $1 AND link.event_id IS NULL ON CONFLICT DO NOTHING`;

/** The last link of a chain, as the table `audit_head` has it. */
export interface StoredHead extends Head {
  readonly chain: string;
  /** HMAC-SHA256 over the head. */
  readonly mac: Uint8Array;
  /** Names the application secret that the code was made under. */
  readonly keyId: string;
}

export interface Link extends Head {
  readonly chain: string;
  readonly eventId: string;
}

interface HeadRow extends Omit<StoredHead, "seq"> {
  readonly seq: string;
}

const SELECT_HEADS = `SELECT chain, seq, hash, mac, key_id AS "keyId" FROM audit_head`;

const parseHead = (row: HeadRow): StoredHead => ({ ...row, seq: Number(row.seq) });

/** False while another instance links rows. */
export const lockLinking = async (sql: Sql): Promise<boolean> =>
  (await sql.query<{ held: boolean }>(LOCK, []))[0]?.held === true;

/** Lets rows that were left out wait for a link. @param since only rows that were made after it */
export const queueLeftOut = async (sql: Sql, since: Date): Promise<void> => {
  await sql.change(FIND_LEFT_OUT, [firstIdAt("auditEvent", since)]);
};

/** Takes rows out of those that wait for a link, oldest first, and returns them. */
export const takeUnlinked = (sql: Sql, limit: number): Promise<readonly AuditColumns[]> =>
  sql.query<AuditColumns>(TAKE, [limit]);

/** Locks the heads of these chains. A chain without rows has none. */
export const lockHeads = async (sql: Sql, chains: readonly string[]): Promise<readonly StoredHead[]> =>
  (await sql.query<HeadRow>(`${SELECT_HEADS} WHERE chain = ANY($1) ORDER BY chain FOR UPDATE`, [chains])).map(
    parseHead,
  );

/** Locks heads whose code was made under another application secret than the current one. */
export const lockOldHeads = async (sql: Sql, currentKeyId: string, limit: number): Promise<readonly StoredHead[]> =>
  (
    await sql.query<HeadRow>(`${SELECT_HEADS} WHERE key_id <> $1 ORDER BY chain LIMIT $2::int FOR UPDATE`, [
      currentKeyId,
      limit,
    ])
  ).map(parseHead);

export const insertLinks = async (sql: Sql, links: readonly Link[]): Promise<void> => {
  await sql.change(INSERT_LINKS, [
    links.map(({ chain }) => chain),
    links.map(({ seq }) => seq),
    links.map(({ eventId }) => eventId),
    links.map(({ hash }) => hash),
  ]);
};

export const writeHeads = async (
  sql: Sql,
  heads: readonly Omit<StoredHead, "keyId">[],
  keyId: string,
): Promise<void> => {
  await sql.change(WRITE_HEADS, [
    heads.map(({ chain }) => chain),
    heads.map(({ seq }) => seq),
    heads.map(({ hash }) => hash),
    heads.map(({ mac }) => mac),
    keyId,
  ]);
};
