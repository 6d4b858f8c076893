/**
 * Removes a month's archived rows from the database, except the rows that operations, payouts,
 * deliveries or notifications still need.
 */
import type pg from "pg";
import { STATUSES, isFinal } from "@/lib/core/status";
import { isDistributed } from "@/lib/platform/db/sql";
import { batchesFor, batchSql, valuesOf, type BatchSql } from "./batches";
import type { ArchivedFile, TextRow } from "./manifest";
import { type ArchivedTable, inTransaction } from "./tables";

const REMOVED_AT_ONCE = 1_000;
const UNENDED = STATUSES.filter((status) => !isFinal(status));
/** Matches ids of operations and payouts anywhere in a row. */
const NAMED = /\b(?:op|po)_[\w-]+/g;

/**
 * Finds the operations and payouts among `ids` that have not ended. Each table is queried
 * separately, because the tables may be on different servers than the archived ones.
 */
const openAmong = async (
  client: pg.Client,
  projectIds: readonly string[],
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const open = new Set<string>();
  for (const table of ["operation", "payout"]) {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE project_id = ANY($1::text[]) AND id = ANY($2::text[]) AND status = ANY($3::text[])`,
      [projectIds, ids, UNENDED],
    );
    for (const { id } of rows) open.add(id);
  }
  return open;
};

const namedIn = (row: TextRow): string[] => row.flatMap((value) => value?.match(NAMED) ?? []);

/** The rows that name no operation or payout in progress. */
const endedOnly = async (
  client: pg.Client,
  { columns }: ArchivedFile,
  batch: readonly TextRow[],
): Promise<TextRow[]> => {
  const project = columns.findIndex(({ name }) => name === "project_id");
  const projectIds = [...new Set(batch.map((row) => row[project] ?? ""))];
  const open = await openAmong(client, projectIds, [...new Set(batch.flatMap(namedIn))]);
  return batch.filter((row) => !namedIn(row).some((id) => open.has(id)));
};

const AWAITED = `
  SELECT n.project_id || ' ' || n.sequence AS key FROM unnest($1::text[], $2::bigint[]) AS r (project_id, sequence)
  JOIN notification_due n ON n.project_id = r.project_id AND n.sequence = r.sequence`;

/**
 * Keeps the events that are not in the queue of notifications. An event enters the queue when it is
 * numbered, and never later, so such an event does not enter it after this check. The queue is a
 * table of the coordinator, so it is read in a separate statement.
 */
const notifiedOnly = async (
  client: pg.Client,
  { columns }: ArchivedFile,
  batch: readonly TextRow[],
): Promise<readonly TextRow[]> => {
  const [project, sequence] = ["project_id", "sequence"].map((column) =>
    columns.findIndex(({ name }) => name === column),
  );
  const at = (row: TextRow, place = -1): string => row[place] ?? "";
  const values = [project, sequence].map((place) => batch.map((row) => at(row, place)));
  const awaited = new Set(
    (await client.query<{ key: string }>(AWAITED, values)).rows.map(({ key }) => key),
  );
  return batch.filter((row) => !awaited.has(`${at(row, project)} ${at(row, sequence)}`));
};

interface Removal {
  readonly table: ArchivedTable;
  readonly file: ArchivedFile;
  readonly mayLeave: string;
  readonly sql: BatchSql;
}

const deleteBatch = async (
  client: pg.Client,
  { table: { table }, file, mayLeave, sql: { source, sameKey, same } }: Removal,
  batch: readonly TextRow[],
): Promise<number> => {
  const text = `DELETE FROM ${table} d USING ${source} WHERE ${sameKey} AND ${same} AND ${mayLeave}`;
  return (await client.query(text, valuesOf(client, file, batch))).rowCount ?? 0;
};

/**
 * Deletes rows on a cluster. A DELETE cannot compare columns by their text there, so the rows are
 * compared and locked first.
 */
const deleteCompared = (
  client: pg.Client,
  removal: Removal,
  batch: readonly TextRow[],
): Promise<number> =>
  inTransaction(client, "BEGIN", async () => {
    const { table, file, mayLeave, sql } = removal;
    const compared = await client.query<{ key: string[] }>(
      `SELECT ${sql.keyTexts} AS key FROM ${sql.source} JOIN ${table.table} d ON ${sql.sameKey} WHERE ${sql.same} AND ${mayLeave} FOR UPDATE OF d`,
      valuesOf(client, file, batch),
    );
    const places = table.key.map((name) =>
      file.columns.findIndex((column) => column.name === name),
    );
    const keys = new Set(compared.rows.map(({ key }) => key.join(" ")));
    const leaving = batch.filter((row) =>
      keys.has(places.map((place) => row[place] ?? "").join(" ")),
    );
    return leaving.length === 0
      ? 0
      : deleteBatch(client, { ...removal, sql: { ...sql, same: "true" } }, leaving);
  });

/**
 * Removes only rows that are identical in the file and the table, so nothing is lost. May be
 * stopped at any point and repeated.
 * @returns how many rows were removed
 */
export const removeRows = async (
  client: pg.Client,
  {
    table,
    file,
    folder,
  }: { readonly table: ArchivedTable; readonly file: ArchivedFile; readonly folder: string },
): Promise<number> => {
  if (table.mayLeave === null) return 0;
  const removal: Removal = {
    table,
    file,
    mayLeave: table.mayLeave,
    sql: await batchSql(client, table, file),
  };
  const removeBatch = isDistributed(client) ? deleteCompared : deleteBatch;
  let removed = 0;
  for await (const batch of batchesFor(client, { folder, file }, REMOVED_AT_ONCE)) {
    const ended = await endedOnly(client, file, batch);
    const leaving = table.table === "event" ? await notifiedOnly(client, file, ended) : ended;
    if (leaving.length > 0) removed += await removeBatch(client, removal, leaving);
  }
  return removed;
};
