import type { Tx } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { nullable, table, text } from "@/lib/platform/db/table";
import { type Anchor, anchors } from "./rows";

/**
 * Stores an anchor.
 * @returns false when the day already has an anchor
 */
export const insertAnchor = async (tx: Tx, anchor: Anchor, at: Date): Promise<boolean> => {
  const inserted = await sqlOf(tx).change(sql`
    INSERT INTO audit_anchor (created_at, ${anchors.names})
    SELECT ${at}::timestamptz, ${anchors.names} FROM ${anchors.list([anchor])} AS anchor
    ON CONFLICT DO NOTHING`);
  return inserted === 1;
};

export const newestAnchor = (db: SqlReader, chainId: number): Promise<Anchor | null> =>
  anchors.first(
    db,
    sql`
      SELECT ${anchors.columns("a")} FROM audit_anchor a
      WHERE a.chain_id = ${chainId}::int
      ORDER BY a.day DESC
      LIMIT 1`,
  );

export const ANCHORED = "audit.anchored";

interface PairedAnchors {
  /** Oldest first. */
  readonly anchors: readonly Anchor[];
  /** Transactions that the audit log names as anchors but that have no row. */
  readonly removed: readonly string[];
  readonly unrecorded: readonly Anchor[];
}

const pairs = table({ txHash: nullable(text), recordedHash: nullable(text) });

export const readAnchors = async (db: SqlReader): Promise<PairedAnchors> => {
  // One statement, so that an anchor stored at the same time is either in both results or in
  // neither.
  const rows = await db.query<object>(sql`
    SELECT ${anchors.columns("a")}, e.hash AS "recordedHash"
    FROM audit_anchor a
    FULL JOIN (
      SELECT subject AS hash FROM audit_event WHERE action = ${ANCHORED} AND project_id IS NULL
    ) e ON e.hash = a.tx_hash
    ORDER BY a.day, a.chain_id`);
  const stored: Anchor[] = [];
  const removed: string[] = [];
  const unrecorded: Anchor[] = [];
  for (const row of rows) {
    const { txHash, recordedHash } = pairs.read(row);
    if (txHash === null) {
      removed.push(String(recordedHash));
      continue;
    }
    const anchor = anchors.read(row);
    stored.push(anchor);
    if (recordedHash === null) unrecorded.push(anchor);
  }
  return { anchors: stored, removed, unrecorded };
};
