import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import type { ScreeningState } from "@/lib/trust/ports/screening";
import type { SignedList } from "./list-file";

// Records of screenings that allowed or stopped a movement.

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
  /** `sent_by_wallet`: a wallet had sent it before it was screened. */
  readonly outcome: "passed" | "stopped" | "sent_by_wallet" | "quarantined";
  /** Number of screened addresses. */
  readonly addresses: number;
  /** The verdicts of each source, counted. */
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

const INSERT = `
  INSERT INTO screening_record (project_id, id, subject_type, subject_id, part, phase, mode, outcome, addresses, sources, findings, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::int, $10::jsonb, $11::jsonb, $12::timestamptz)`;

export const insertRecord = async (sql: Sql, row: ScreeningRecord): Promise<void> => {
  const {
    projectId,
    id,
    subjectType,
    subjectId,
    part,
    phase,
    mode,
    outcome,
    addresses,
    createdAt,
  } = row;
  const json = [JSON.stringify(row.sources), JSON.stringify(row.findings)];
  const values = [
    projectId,
    id,
    subjectType,
    subjectId,
    part,
    phase,
    mode,
    outcome,
    addresses,
    ...json,
    createdAt,
  ];
  await sql.change(INSERT, values);
};

// Rows of imported sanctions lists. Versions are only added, because the record of a screening
// names the version that it used.

/** A version of a list without its entries. */
export interface ListHead {
  readonly name: string;
  readonly version: number;
  readonly validUntil: Date;
}

const HEADS = `
  SELECT DISTINCT ON (name) name, version, valid_until AS "validUntil" FROM screening_list ORDER BY name, version DESC`;

const ENTRIES = "SELECT address FROM screening_list_entry WHERE list_name = $1 AND version = $2";

const NEWEST = `
  SELECT version, digest FROM screening_list WHERE name = $1 ORDER BY version DESC LIMIT 1`;

const INSERT_LIST = `
  INSERT INTO screening_list (name, version, digest, source, key_id, issued_at, valid_until, entries, imported_by, imported_at)
  VALUES ($1, $2::int, $3::bytea, $4, $5, $6::timestamptz, $7::timestamptz, $8::int, $9, $10::timestamptz)
  ON CONFLICT DO NOTHING`;

const INSERT_ENTRIES = `
  INSERT INTO screening_list_entry (list_name, version, address, label)
  SELECT $1, $2::int, address, label FROM unnest($3::text[], $4::text[]) AS entry (address, label)`;

/** The lock prevents concurrent imports of one list. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('screening_list:' || $1, 0))::text";

/** The newest version of each list. */
export const readListHeads = (sql: SqlReader): Promise<readonly ListHead[]> =>
  sql.query<ListHead>(HEADS, []);

export const readListAddresses = async (
  sql: SqlReader,
  { name, version }: Pick<ListHead, "name" | "version">,
): Promise<ReadonlySet<string>> =>
  new Set(
    (await sql.query<{ address: string }>(ENTRIES, [name, version])).map(({ address }) => address),
  );

/**
 * The newest stored version of the list, locked so that it stays the newest until the transaction
 * ends.
 */
export const lockNewestVersion = async (
  sql: Sql,
  name: string,
): Promise<{ readonly version: number; readonly digest: Uint8Array } | null> => {
  await sql.query(LOCK, [name]);
  return (await sql.query<{ version: number; digest: Uint8Array }>(NEWEST, [name]))[0] ?? null;
};

/** Stores a version with its entries. @returns false when the version is stored already */
export const insertList = async (
  sql: Sql,
  list: SignedList,
  { by, at }: { readonly by: string; readonly at: Date },
): Promise<boolean> => {
  const { name, version, digest, source, keyId, issuedAt, validUntil, entries } = list;
  const row = [name, version, digest, source, keyId, issuedAt, validUntil, entries.size, by, at];
  if ((await sql.change(INSERT_LIST, row)) === 0) return false;
  await sql.change(INSERT_ENTRIES, [name, version, [...entries.keys()], [...entries.values()]]);
  return true;
};
