import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, sql } from "@/lib/platform/db/statement";
import { bytes } from "@/lib/platform/db/table";
import { chunkContents, type ExportRow, exportRows, makerEmails } from "./rows";

export const insertExport = async (db: Sql, row: ExportRow): Promise<void> => {
  await db.change(sql`
    INSERT INTO export (${exportRows.names})
    SELECT ${exportRows.names} FROM ${exportRows.list([row])} AS new_export`);
};

interface Key {
  readonly projectId: string;
  readonly id: string;
}

export const findExport = async (
  db: SqlReader,
  { projectId, id }: Key,
): Promise<ExportRow | null> => {
  const [row] = await exportRows.all(
    db,
    sql`
      SELECT ${exportRows.columns("e")} FROM export e
      WHERE e.project_id = ${projectId} AND e.id = ${id}`,
  );
  return row ?? null;
};

interface ExportList {
  readonly projectId: string;
  /**
   * The scopes of the API key that lists exports. Exports for which the key lacks a scope are left
   * out. Null for people, who need no scopes.
   */
  readonly scopes: readonly string[] | null;
  readonly withAuditLog: boolean;
  readonly before: string | undefined;
  readonly limit: number;
}

/** The project's exports, newest first. */
export const readExports = (
  db: SqlReader,
  { projectId, scopes, withAuditLog, before, limit }: ExportList,
): Promise<readonly ExportRow[]> => {
  const conditions = [
    sql`e.project_id = ${projectId}`,
    ...(scopes === null ? [] : [sql`e.needs <@ ${scopes}::text[]`]),
    ...(withAuditLog ? [] : [sql`e.kind <> 'audit_log'`]),
    ...(before === undefined ? [] : [sql`e.id < ${before}`]),
  ];
  return exportRows.all(
    db,
    sql`
      SELECT ${exportRows.columns("e")} FROM export e
      WHERE ${join(conditions, " AND ")}
      ORDER BY e.id DESC
      LIMIT ${limit}::int`,
  );
};

interface Chunk {
  readonly content: Uint8Array;
  readonly rows: number;
  readonly cursor: string | null;
  readonly isLast: boolean;
  readonly at: Date;
}

/**
 * Stores the next chunk of an export.
 * @returns false when another worker has stored a chunk since `row` was read
 */
export const appendChunk = async (
  db: Sql,
  row: ExportRow,
  { content, rows, cursor, isLast, at }: Chunk,
): Promise<boolean> => {
  const changed = await db.change(sql`
    UPDATE export SET
      state = 'running',
      chunks = chunks + 1,
      rows = rows + ${rows}::int,
      bytes = bytes + ${content.length}::int,
      cursor = ${cursor},
      is_whole = ${isLast}
    WHERE project_id = ${row.projectId}
      AND id = ${row.id}
      AND chunks = ${row.chunks}::int
      AND NOT is_whole
      AND state IN ('queued', 'running')`);
  if (changed === 0) return false;
  await db.change(sql`
    INSERT INTO export_chunk (project_id, export_id, index, content, created_at)
    VALUES (
      ${row.projectId},
      ${row.id},
      ${row.chunks}::int,
      ${bytes.write(content)}::bytea,
      ${at}::timestamptz
    )`);
  return true;
};

/**
 * Reads one chunk of an export.
 * @returns null when there is no such chunk
 */
export const readChunk = async (
  db: SqlReader,
  { projectId, id }: Key,
  index: number,
): Promise<Uint8Array | null> => {
  const [row] = await chunkContents.all(
    db,
    sql`
      SELECT ${chunkContents.columns("c")} FROM export_chunk c
      WHERE c.project_id = ${projectId} AND c.export_id = ${id} AND c.index = ${index}::int`,
  );
  return row?.content ?? null;
};

/**
 * Marks an export as ready.
 * @returns false when the export is not being written any more
 */
export const markReady = async (
  db: Sql,
  { projectId, id }: Key,
  { sha256, at }: { readonly sha256: Uint8Array; readonly at: Date },
): Promise<boolean> =>
  (await db.change(sql`
    UPDATE export SET state = 'ready', sha256 = ${bytes.write(sha256)}::bytea, ready_at = ${at}::timestamptz
    WHERE project_id = ${projectId} AND id = ${id} AND is_whole AND state = 'running'`)) > 0;

export const markFailed = async (
  db: Sql,
  { projectId, id }: Key,
  failure: string,
): Promise<void> => {
  await db.change(sql`
    UPDATE export SET state = 'failed', failure = ${failure}
    WHERE project_id = ${projectId} AND id = ${id} AND state IN ('queued', 'running')`);
};

/** The verified e-mail address of a person; null when there is none. */
export const emailOf = async (db: SqlReader, userId: string): Promise<string | null> => {
  const [row] = await makerEmails.all(
    db,
    sql`
      SELECT u.email FROM app_user u
      WHERE u.id = ${userId} AND u.email_verified_at IS NOT NULL AND u.email IS NOT NULL`,
  );
  return row?.email ?? null;
};
