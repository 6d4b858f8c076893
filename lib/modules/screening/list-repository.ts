/** Rows of imported sanctions lists. Versions are only added: a record of a screening names the version that it read. */
import type { Sql, SqlReader } from "@/lib/db/sql";
import type { SignedList } from "./list-file";

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

/** Two imports of one list never run at once. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('screening_list:' || $1, 0))::text";

/** The newest version of each list. */
export const readListHeads = (sql: SqlReader): Promise<readonly ListHead[]> => sql.query<ListHead>(HEADS, []);

export const readListAddresses = async (
  sql: SqlReader,
  { name, version }: Pick<ListHead, "name" | "version">,
): Promise<ReadonlySet<string>> =>
  new Set((await sql.query<{ address: string }>(ENTRIES, [name, version])).map(({ address }) => address));

/** The newest stored version of the list; it stays the newest until the transaction ends. */
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
