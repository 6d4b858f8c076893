import { firstIdAt } from "@/lib/core/ids";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { bool, table, time } from "@/lib/platform/db/table";
import {
  type AuditColumns,
  auditColumns,
  type ComparedHead,
  comparedHeads,
  heads,
  type Link,
  type LinkedRow,
  linkedRows,
  links,
  type SealedHead,
  sealedHeads,
  seals,
  type StoredHead,
  type StoredSeal,
  type UnlinkedRow,
  unlinkedRows,
} from "./rows";

const locks = table({ held: bool });

/**
 * Takes a transaction-level advisory lock, so that only one instance links at a time. Returns false
 * while another instance links rows.
 */
export const lockLinking = async (db: Sql): Promise<boolean> => {
  const lock = await locks.first(
    db,
    sql`SELECT pg_try_advisory_xact_lock(hashtextextended('causeway.audit-link', 0)) AS held`,
  );
  return lock?.held === true;
};

/**
 * Queues rows without a link. During an upgrade, old processes without audit chains may still write
 * such rows.
 * @param since only rows created after this time
 */
export const queueLeftOut = async (db: Sql, since: Date): Promise<void> => {
  await db.change(sql`
    INSERT INTO audit_unlinked (event_id)
    SELECT event.id
    FROM audit_event event
    LEFT JOIN audit_link link ON link.event_id = event.id
    WHERE event.id > ${firstIdAt("auditEvent", since)} AND link.event_id IS NULL
    ON CONFLICT DO NOTHING`);
};

/** Removes the oldest rows from the link queue and returns them. */
export const takeUnlinked = (db: Sql, limit: number): Promise<readonly AuditColumns[]> =>
  auditColumns.all(
    db,
    sql`
      WITH taken AS (
        DELETE FROM audit_unlinked
        WHERE event_id IN (
          SELECT event_id FROM audit_unlinked
          ORDER BY event_id
          LIMIT ${limit}::int
          FOR UPDATE SKIP LOCKED
        )
        RETURNING event_id
      )
      SELECT ${auditColumns.columns("event")}
      FROM audit_event event
      JOIN taken ON taken.event_id = event.id
      WHERE NOT EXISTS (SELECT FROM audit_link link WHERE link.event_id = event.id)
      ORDER BY event.id`,
  );

/** Locks the heads of these chains. A chain without rows has no head. */
export const lockHeads = (db: Sql, chains: readonly string[]): Promise<readonly StoredHead[]> =>
  heads.all(
    db,
    sql`
      SELECT ${heads.columns("h")} FROM audit_head h
      WHERE h.chain = ANY(${chains}::text[])
      ORDER BY h.chain
      FOR UPDATE`,
  );

/** Locks heads whose code was made with another application secret than the current one. */
export const lockOldHeads = (
  db: Sql,
  currentKeyId: string,
  limit: number,
): Promise<readonly StoredHead[]> =>
  heads.all(
    db,
    sql`
      SELECT ${heads.columns("h")} FROM audit_head h
      WHERE h.key_id <> ${currentKeyId}
      ORDER BY h.chain
      LIMIT ${limit}::int
      FOR UPDATE`,
  );

export const insertLinks = async (db: Sql, added: readonly Link[]): Promise<void> => {
  await db.change(sql`
    INSERT INTO audit_link (${links.names})
    SELECT ${links.names} FROM ${links.list(added)} AS link`);
};

export const writeHeads = async (
  db: Sql,
  written: readonly Omit<StoredHead, "keyId">[],
  keyId: string,
): Promise<void> => {
  const rows = written.map((head) => ({ ...head, keyId }));
  await db.change(sql`
    INSERT INTO audit_head (updated_at, ${heads.names})
    SELECT now(), ${heads.names} FROM ${heads.list(rows)} AS head
    ON CONFLICT (chain) DO UPDATE SET
      seq = EXCLUDED.seq,
      hash = EXCLUDED.hash,
      mac = EXCLUDED.mac,
      key_id = EXCLUDED.key_id,
      updated_at = EXCLUDED.updated_at`);
};

const times = table({ now: time });

/** The database server's time, rounded to milliseconds because a seal stores milliseconds. */
export const databaseTime = async (db: Sql): Promise<Date> => {
  const row = await times.first(db, sql`SELECT date_trunc('milliseconds', now()) AS now`);
  if (row === null) throw new Error("The database gave no time.");
  return row.now;
};

export const newestSeal = (db: SqlReader): Promise<StoredSeal | null> =>
  seals.first(
    db,
    sql`SELECT ${seals.columns("s")} FROM audit_seal s ORDER BY s.number DESC LIMIT 1`,
  );

/**
 * The heads of chains that have changed since they were sealed. They are locked, so that a head
 * that gets a new code at the same time is not overwritten.
 */
export const lockUnsealedHeads = (db: Sql, limit: number): Promise<readonly SealedHead[]> =>
  sealedHeads.all(
    db,
    sql`
      SELECT ${sealedHeads.columns("h")} FROM audit_head h
      WHERE h.seq <> h.sealed_seq
      ORDER BY h.chain
      LIMIT ${limit}::int
      FOR UPDATE`,
  );

/**
 * Stores a seal with its heads. Fails when another instance has stored a seal with the same
 * number.
 */
export const insertSeal = async (
  db: Sql,
  seal: StoredSeal,
  sealed: readonly SealedHead[],
): Promise<void> => {
  await db.change(sql`
    INSERT INTO audit_seal (${seals.names})
    SELECT ${seals.names} FROM ${seals.list([seal])} AS seal`);
  await db.change(sql`
    INSERT INTO audit_seal_head (number, ${sealedHeads.names})
    SELECT ${seal.number}::bigint, ${sealedHeads.names}
    FROM ${sealedHeads.list(sealed)} AS sealed`);
  await db.change(sql`
    UPDATE audit_head SET sealed_seq = seq
    WHERE chain = ANY(${sealed.map(({ chain }) => chain)}::text[])`);
};

export const sealsAfter = (
  db: SqlReader,
  number: number,
  limit: number,
): Promise<readonly StoredSeal[]> =>
  seals.all(
    db,
    sql`
      SELECT ${seals.columns("s")} FROM audit_seal s
      WHERE s.number > ${number}::bigint
      ORDER BY s.number
      LIMIT ${limit}::int`,
  );

const numberedHeads = comparedHeads.pick("number", "chain", "seq", "hash");

/**
 * The heads of the seals with the numbers `from` to `to`, both inclusive. Each head comes with the
 * current hash of its link.
 */
export const headsOfSeals = (
  db: SqlReader,
  from: number,
  to: number,
): Promise<readonly ComparedHead[]> =>
  comparedHeads.all(
    db,
    sql`
      SELECT ${numberedHeads.columns("sealed")}, link.hash AS "linkHash"
      FROM audit_seal_head sealed
      LEFT JOIN audit_link link ON link.chain = sealed.chain AND link.seq = sealed.seq
      WHERE sealed.number BETWEEN ${from}::bigint AND ${to}::bigint`,
  );

const hashes = seals.pick("hash");

export const readSealHash = async (
  db: SqlReader,
  number: number,
): Promise<Uint8Array | null> => {
  const seal = await hashes.first(
    db,
    sql`SELECT hash FROM audit_seal WHERE number = ${number}::bigint`,
  );
  return seal?.hash ?? null;
};

const places = links.pick("seq", "eventId", "hash");

export const linksAfter = (
  db: SqlReader,
  at: { readonly chain: string; readonly seq: number; readonly limit: number },
): Promise<readonly LinkedRow[]> =>
  linkedRows.all(
    db,
    sql`
      SELECT ${places.columns("link")}, event.id IS NULL AS "isRemoved",
        ${auditColumns.columns("event")}
      FROM audit_link link
      LEFT JOIN audit_event event ON event.id = link.event_id
      WHERE link.chain = ${at.chain} AND link.seq > ${at.seq}::bigint
      ORDER BY link.seq
      LIMIT ${at.limit}::int`,
  );

/** The stored head of each chain. A chain with links but without a head gets an empty head. */
export const readKnownHeads = (db: SqlReader): Promise<readonly StoredHead[]> =>
  heads.all(
    db,
    sql`
      SELECT chain, coalesce(head.seq, 0)::float8 AS seq, coalesce(head.hash, '') AS hash,
        coalesce(head.mac, '') AS mac, coalesce(head.key_id, '') AS "keyId"
      FROM (SELECT chain FROM audit_head UNION SELECT DISTINCT chain FROM audit_link) known
      LEFT JOIN audit_head head USING (chain)
      ORDER BY chain`,
  );

/** A row that has no link after this interval counts as left out of its chain. */
const LINK_WITHIN = raw("interval '10 minutes'");

/** The audit rows without a link, in the order of their ids. */
export const readUnlinked = (db: SqlReader): Promise<readonly UnlinkedRow[]> =>
  unlinkedRows.all(
    db,
    sql`
      SELECT event.id, event.created_at < now() - ${LINK_WITHIN} AS late
      FROM audit_event event
      LEFT JOIN audit_link link ON link.event_id = event.id
      WHERE link.event_id IS NULL
      ORDER BY event.id`,
  );
