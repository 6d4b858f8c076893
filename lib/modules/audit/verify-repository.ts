import type { SqlReader } from "@/lib/db/sql";
import type { AuditColumns } from "./audit-event";
import { EVENT_COLUMNS, type StoredHead } from "./link-repository";

/** A link of a chain with the audit row that it names. */
export interface LinkedRow extends AuditColumns {
  readonly seq: number;
  readonly eventId: string;
  readonly hash: Uint8Array;
  /** The audit row is gone; its columns are null. */
  readonly isRemoved: boolean;
}

/** An audit row that no chain has. */
export interface UnlinkedRow {
  readonly id: string;
  /** The event was left out of the chain, because it waits too long for its link. */
  readonly late: boolean;
}

/** A row that waits longer than this for its link was left out of the chain. */
const LINK_WITHIN_MINUTES = 10;

const LINKS = `
  SELECT link.seq, link.event_id AS "eventId", link.hash, event.id IS NULL AS "isRemoved", ${EVENT_COLUMNS}
  FROM audit_link link LEFT JOIN audit_event event ON event.id = link.event_id
  WHERE link.chain = $1 AND link.seq > $2::bigint ORDER BY link.seq LIMIT $3::int`;

const HEADS = `
  SELECT chain, coalesce(head.seq, 0) AS seq, coalesce(head.hash, '') AS hash, coalesce(head.mac, '') AS mac,
    coalesce(head.key_id, '') AS "keyId"
  FROM (SELECT chain FROM audit_head UNION SELECT DISTINCT chain FROM audit_link) known LEFT JOIN audit_head head USING (chain)
  ORDER BY chain`;

const UNLINKED = `
  SELECT event.id, event.created_at < now() - interval '${String(LINK_WITHIN_MINUTES)} minutes' AS late
  FROM audit_event event LEFT JOIN audit_link link ON link.event_id = event.id WHERE link.event_id IS NULL ORDER BY event.id`;

/** The links of a chain after `seq`, in their order. */
export const linksAfter = async (
  sql: SqlReader,
  { chain, seq, limit }: { readonly chain: string; readonly seq: number; readonly limit: number },
): Promise<readonly LinkedRow[]> => {
  const rows = await sql.query<Omit<LinkedRow, "seq"> & { seq: string }>(LINKS, [chain, seq, limit]);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
};

/** The stored head of each chain. A chain with links and without a head has an empty one. */
export const readKnownHeads = async (sql: SqlReader): Promise<readonly StoredHead[]> => {
  const rows = await sql.query<Omit<StoredHead, "seq"> & { seq: string }>(HEADS, []);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
};

/** The audit rows without a link, in the order of their ids. */
export const readUnlinked = (sql: SqlReader): Promise<readonly UnlinkedRow[]> => sql.query<UnlinkedRow>(UNLINKED, []);
