import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { type RowOf, table, text } from "@/lib/platform/db/table";
import type { ScreeningState } from "@/lib/trust/ports/screening";
import type { SignedList } from "./list-file";
import { screeningLists } from "./rows";

// Records of screenings that allowed or stopped a movement, and imported sanctions lists.

export interface ScreeningRecord {
  readonly id: string;
  readonly projectId: string;
  /** `request`: stopped before anything was stored. */
  readonly subjectType: "operation" | "payout" | "funding" | "deposit" | "request";
  readonly subjectId: string | null;
  /**
   * The leg, or the payout's batch, that was about to be signed; null for the acceptance of the
   * whole subject.
   */
  readonly part: string | null;
  readonly phase: "accept" | "sign" | "broadcast" | "credit";
  readonly mode: string;
  /** `sent_by_wallet`: a wallet had sent the movement before it was screened. */
  readonly outcome: "passed" | "stopped" | "sent_by_wallet" | "quarantined";
  readonly addresses: number;
  readonly sources: readonly {
    readonly source: string;
    readonly listVersion: string | null;
    readonly state: ScreeningState;
    readonly count: number;
  }[];
  /** The first addresses that were not clear. */
  readonly findings: readonly {
    readonly address: string;
    readonly state: ScreeningState;
    readonly source: string;
    readonly listVersion: string | null;
  }[];
  readonly createdAt: Date;
}

export const insertRecord = async (db: Sql, record: ScreeningRecord): Promise<void> => {
  // Uses VALUES, because the table is distributed, and rows of a SELECT would pass through the
  // coordinator.
  await db.change(sql`
    INSERT INTO screening_record (
      project_id, id, subject_type, subject_id, part, phase, mode, outcome,
      addresses, sources, findings, created_at
    )
    VALUES (
      ${record.projectId},
      ${record.id},
      ${record.subjectType},
      ${record.subjectId},
      ${record.part},
      ${record.phase},
      ${record.mode},
      ${record.outcome},
      ${record.addresses}::int,
      ${JSON.stringify(record.sources)}::jsonb,
      ${JSON.stringify(record.findings)}::jsonb,
      ${record.createdAt}::timestamptz
    )`);
};

const heads = screeningLists.pick("name", "version", "validUntil");

export type ListHead = RowOf<typeof heads>;

export const readListHeads = (db: SqlReader): Promise<readonly ListHead[]> =>
  heads.all(
    db,
    sql`
      SELECT DISTINCT ON (l.name) ${heads.columns("l")}
      FROM screening_list l
      ORDER BY l.name, l.version DESC`,
  );

const listed = table({ address: text });

export const readListAddresses = async (
  db: SqlReader,
  { name, version }: Pick<ListHead, "name" | "version">,
): Promise<ReadonlySet<string>> => {
  const rows = await listed.all(
    db,
    sql`
      SELECT address FROM screening_list_entry
      WHERE list_name = ${name} AND version = ${version}`,
  );
  return new Set(rows.map(({ address }) => address));
};

const versions = screeningLists.pick("version", "digest");

/**
 * The newest stored version of the list, locked so that it stays the newest until the transaction
 * ends.
 */
export const lockNewestVersion = async (
  db: Sql,
  name: string,
): Promise<RowOf<typeof versions> | null> => {
  // The lock prevents concurrent imports of one list.
  await db.query(
    sql`SELECT pg_advisory_xact_lock(hashtextextended('screening_list:' || ${name}, 0))::text`,
  );
  return versions.first(
    db,
    sql`
      SELECT ${versions.columns("l")} FROM screening_list l
      WHERE l.name = ${name}
      ORDER BY l.version DESC
      LIMIT 1`,
  );
};

/** Stores a version with its entries. @returns false when the version is stored already */
export const insertList = async (
  db: Sql,
  list: SignedList,
  { by, at }: { readonly by: string; readonly at: Date },
): Promise<boolean> => {
  const row = { ...list, entries: list.entries.size, importedBy: by, importedAt: at };
  const inserted = await db.change(sql`
    INSERT INTO screening_list (${screeningLists.names})
    SELECT ${screeningLists.names} FROM ${screeningLists.list([row])} AS imported
    ON CONFLICT DO NOTHING`);
  if (inserted === 0) return false;
  await db.change(sql`
    INSERT INTO screening_list_entry (list_name, version, address, label)
    SELECT ${list.name}, ${list.version}::int, address, label
    FROM unnest(${[...list.entries.keys()]}::text[], ${[...list.entries.values()]}::text[])
      AS entry (address, label)`);
  return true;
};
