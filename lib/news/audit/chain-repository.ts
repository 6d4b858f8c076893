import { firstIdAt } from "@/lib/core/ids";
import { type Sql, sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import type { AuditColumns, Head, Seal, SealedHead } from "./rules";
import type { Tx } from "@/lib/platform/db/client";

/** A transaction-level advisory lock, so that only one instance links at a time. */
const LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended('causeway.audit-link', 0)) AS held";

/** The columns of an audit row, named as in `AuditColumns`. */
const EVENT_COLUMNS = `event.id, event.project_id AS "projectId", event.actor, event.action, event.subject, event.data,
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
 * Queues rows without a link. During an upgrade, old processes without audit chains may still write
 * such rows.
 */
const FIND_LEFT_OUT = `
  INSERT INTO audit_unlinked (event_id)
  SELECT event.id FROM audit_event event LEFT JOIN audit_link link ON link.event_id = event.id
  WHERE event.id > $1 AND link.event_id IS NULL ON CONFLICT DO NOTHING`;

/** The last link of a chain, as stored in the table `audit_head`. */
export interface StoredHead extends Head {
  readonly chain: string;
  /** HMAC-SHA256 over the head. */
  readonly mac: Uint8Array;
  /** Identifies the application secret with which `mac` was computed. */
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

/** Returns false while another instance links rows. */
export const lockLinking = async (sql: Sql): Promise<boolean> =>
  (await sql.query<{ held: boolean }>(LOCK, []))[0]?.held === true;

/** Queues rows that were left out for linking. @param since only rows created after this time */
export const queueLeftOut = async (sql: Sql, since: Date): Promise<void> => {
  await sql.change(FIND_LEFT_OUT, [firstIdAt("auditEvent", since)]);
};

/** Removes the oldest rows from the link queue and returns them. */
export const takeUnlinked = (sql: Sql, limit: number): Promise<readonly AuditColumns[]> =>
  sql.query<AuditColumns>(TAKE, [limit]);

/** Locks the heads of these chains. A chain without rows has none. */
export const lockHeads = async (
  sql: Sql,
  chains: readonly string[],
): Promise<readonly StoredHead[]> =>
  (
    await sql.query<HeadRow>(`${SELECT_HEADS} WHERE chain = ANY($1) ORDER BY chain FOR UPDATE`, [
      chains,
    ])
  ).map(parseHead);

/** Locks heads whose code was made with a different application secret than the current one. */
export const lockOldHeads = async (
  sql: Sql,
  currentKeyId: string,
  limit: number,
): Promise<readonly StoredHead[]> =>
  (
    await sql.query<HeadRow>(
      `${SELECT_HEADS} WHERE key_id <> $1 ORDER BY chain LIMIT $2::int FOR UPDATE`,
      [currentKeyId, limit],
    )
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

export interface StoredSeal extends Seal {
  /** HMAC-SHA256 over the seal. */
  readonly mac: Uint8Array;
  /** Identifies the application secret of the code. */
  readonly keyId: string;
}

type NumberText<Row> = Omit<Row, "number"> & { readonly number: string };
type SeqText<Row> = Omit<Row, "seq"> & { readonly seq: string };

const SEAL_COLUMNS = `number, at, previous, root, hash, mac, key_id AS "keyId"`;

const parseSeal = (row: NumberText<StoredSeal>): StoredSeal => ({
  ...row,
  number: Number(row.number),
});
const parseSealedHead = (row: SeqText<SealedHead>): SealedHead => ({
  ...row,
  seq: Number(row.seq),
});

const NOW = "SELECT date_trunc('milliseconds', now()) AS now";

// Locked, so that a head that gets a new code at the same time is not overwritten.
const UNSEALED = `
  SELECT chain, seq, hash FROM audit_head WHERE seq <> sealed_seq ORDER BY chain LIMIT $1::int FOR UPDATE`;

const INSERT_SEAL = `
  INSERT INTO audit_seal (number, at, previous, root, hash, mac, key_id) VALUES ($1::bigint, $2::timestamptz, $3, $4, $5, $6, $7)`;

const INSERT_HEADS = `
  INSERT INTO audit_seal_head (number, chain, seq, hash)
  SELECT $1::bigint, * FROM unnest($2::text[], $3::bigint[], $4::bytea[])`;

const MARK_SEALED = "UPDATE audit_head SET sealed_seq = seq WHERE chain = ANY($1::text[])";

/** Time of the database server, rounded to milliseconds because a seal stores milliseconds. */
export const databaseTime = async (sql: Sql): Promise<Date> => {
  const [row] = await sql.query<{ now: Date }>(NOW, []);
  if (row === undefined) throw new Error("The database gave no time.");
  return row.now;
};

export const newestSeal = async (sql: SqlReader): Promise<StoredSeal | null> => {
  const [row] = await sql.query<NumberText<StoredSeal>>(
    `SELECT ${SEAL_COLUMNS} FROM audit_seal ORDER BY number DESC LIMIT 1`,
    [],
  );
  return row === undefined ? null : parseSeal(row);
};

/** Locks the heads of chains that have changed since they were sealed. */
export const lockUnsealedHeads = async (sql: Sql, limit: number): Promise<readonly SealedHead[]> =>
  (await sql.query<SeqText<SealedHead>>(UNSEALED, [limit])).map(parseSealedHead);

/** Fails when another instance has stored a seal with this number. */
export const insertSeal = async (
  sql: Sql,
  seal: StoredSeal,
  heads: readonly SealedHead[],
): Promise<void> => {
  const { number, at, previous, root, hash, mac, keyId } = seal;
  const chains = heads.map(({ chain }) => chain);
  await sql.change(INSERT_SEAL, [number, at.toISOString(), previous, root, hash, mac, keyId]);
  await sql.change(INSERT_HEADS, [
    number,
    chains,
    heads.map(({ seq }) => seq),
    heads.map((head) => head.hash),
  ]);
  await sql.change(MARK_SEALED, [chains]);
};

/** A sealed head with the link to which it refers. */
export interface ComparedHead extends SealedHead {
  readonly number: number;
  /** The link's current hash; null when the link was removed. */
  readonly linkHash: Uint8Array | null;
}

const HEADS_OF = `
  SELECT sealed.number, sealed.chain, sealed.seq, sealed.hash, link.hash AS "linkHash"
  FROM audit_seal_head sealed LEFT JOIN audit_link link ON link.chain = sealed.chain AND link.seq = sealed.seq
  WHERE sealed.number BETWEEN $1::bigint AND $2::bigint`;

/** The next seals after `number`, in order. */
export const sealsAfter = async (
  sql: SqlReader,
  number: number,
  limit: number,
): Promise<readonly StoredSeal[]> =>
  (
    await sql.query<NumberText<StoredSeal>>(
      `SELECT ${SEAL_COLUMNS} FROM audit_seal WHERE number > $1::bigint ORDER BY number LIMIT $2::int`,
      [number, limit],
    )
  ).map(parseSeal);

/** The heads of the seals from the first to the last number. */
export const headsOfSeals = async (
  sql: SqlReader,
  from: number,
  to: number,
): Promise<readonly ComparedHead[]> => {
  const rows = await sql.query<SeqText<NumberText<ComparedHead>>>(HEADS_OF, [from, to]);
  return rows.map((row) => ({ ...row, number: Number(row.number), seq: Number(row.seq) }));
};

type Hex = `0x${string}`;

/** A seal that was anchored on a blockchain. */
export interface Anchor {
  readonly chainId: number;
  /** The UTC day on which it was sent: `2026-11-29`. */
  readonly day: string;
  readonly sealNumber: number;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly blockAt: Date;
}

interface AnchorRow extends Omit<Anchor, "sealNumber" | "blockNumber"> {
  readonly sealNumber: string;
  readonly blockNumber: string;
}

const COLUMNS = `chain_id AS "chainId", day, seal_number AS "sealNumber", tx_hash AS "txHash", block_number AS "blockNumber",
  block_at AS "blockAt"`;

const INSERT = `
  INSERT INTO audit_anchor (chain_id, day, seal_number, tx_hash, block_number, block_at, created_at)
  VALUES ($1::int, $2, $3::bigint, $4, $5::bigint, $6::timestamptz, $7::timestamptz)
  ON CONFLICT DO NOTHING`;

const parse = ({ chainId, day, sealNumber, txHash, blockNumber, blockAt }: AnchorRow): Anchor => ({
  chainId,
  day,
  sealNumber: Number(sealNumber),
  txHash,
  blockNumber: BigInt(blockNumber),
  blockAt,
});

/** @returns false when the day already has an anchor */
export const insertAnchor = async (tx: Tx, anchor: Anchor, at: Date): Promise<boolean> => {
  const { chainId, day, sealNumber, txHash, blockNumber, blockAt } = anchor;
  const values = [
    chainId,
    day,
    sealNumber,
    txHash,
    String(blockNumber),
    blockAt.toISOString(),
    at.toISOString(),
  ];
  return (await sqlOf(tx).change(INSERT, values)) === 1;
};

export const newestAnchor = async (sql: SqlReader, chainId: number): Promise<Anchor | null> => {
  const [row] = await sql.query<AnchorRow>(
    `SELECT ${COLUMNS} FROM audit_anchor WHERE chain_id = $1::int ORDER BY day DESC LIMIT 1`,
    [chainId],
  );
  return row === undefined ? null : parse(row);
};

/** The audit action of entries about anchors. */
export const ANCHORED = "audit.anchored";

// One statement, so that an anchor stored at the same time is either in both results or in neither.
const PAIRED = `
  SELECT ${COLUMNS}, e.hash AS "recordedHash"
  FROM audit_anchor FULL JOIN (
    SELECT subject AS hash FROM audit_event WHERE action = $1 AND project_id IS NULL
  ) e ON e.hash = tx_hash
  ORDER BY day, chain_id`;

interface PairedAnchors {
  /** Oldest first. */
  readonly anchors: readonly Anchor[];
  /** Transactions that the audit log names as anchors but that have no row. */
  readonly removed: readonly string[];
  /** Anchors without an entry in the audit log. */
  readonly unrecorded: readonly Anchor[];
}

type PairedRow =
  | (AnchorRow & { readonly recordedHash: string | null })
  | { txHash: null; recordedHash: string };

/** Every anchor, compared with the entries of the audit log. */
export const readAnchors = async (sql: SqlReader): Promise<PairedAnchors> => {
  const rows = await sql.query<PairedRow>(PAIRED, [ANCHORED]);
  const stored = rows.filter((row) => row.txHash !== null);
  return {
    anchors: stored.map(parse),
    removed: rows.filter((row) => row.txHash === null).map(({ recordedHash }) => recordedHash),
    unrecorded: stored.filter(({ recordedHash }) => recordedHash === null).map(parse),
  };
};

/** The hash of a seal, or null. */
export const readSealHash = async (sql: SqlReader, number: number): Promise<Uint8Array | null> => {
  const [row] = await sql.query<{ hash: Uint8Array }>(
    "SELECT hash FROM audit_seal WHERE number = $1::bigint",
    [number],
  );
  return row?.hash ?? null;
};

/** A link of a chain with the audit row to which it refers. */
export interface LinkedRow extends AuditColumns {
  readonly seq: number;
  readonly eventId: string;
  readonly hash: Uint8Array;
  /** True when the audit row is gone; its columns are then null. */
  readonly isRemoved: boolean;
}

/** An audit row that is in no chain. */
interface UnlinkedRow {
  readonly id: string;
  /** True when the row has waited too long for its link, so it was left out of the chain. */
  readonly late: boolean;
}

/** A row that waits longer than this for its link counts as left out. */
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

/** The links of a chain after `seq`, in order. */
export const linksAfter = async (
  sql: SqlReader,
  { chain, seq, limit }: { readonly chain: string; readonly seq: number; readonly limit: number },
): Promise<readonly LinkedRow[]> => {
  const rows = await sql.query<Omit<LinkedRow, "seq"> & { seq: string }>(LINKS, [
    chain,
    seq,
    limit,
  ]);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
};

/** The stored head of each chain. A chain with links but without a head gets an empty one. */
export const readKnownHeads = async (sql: SqlReader): Promise<readonly StoredHead[]> => {
  const rows = await sql.query<Omit<StoredHead, "seq"> & { seq: string }>(HEADS, []);
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
};

/** The audit rows without a link, in the order of their ids. */
export const readUnlinked = (sql: SqlReader): Promise<readonly UnlinkedRow[]> =>
  sql.query<UnlinkedRow>(UNLINKED, []);
