/** Removes a month's archived rows from the database, but for those that operations, payouts, deliveries or notifications still need. */
import type pg from "pg";
import { STATUSES, isFinal } from "@/lib/core/status";
import { batchSql, valuesOf } from "./batches";
import type { TextRow } from "./csv";
import { batchesOf, type ArchivedFile } from "./manifest";
import type { ArchivedTable } from "./tables";

const REMOVED_AT_ONCE = 1_000;
const UNENDED = STATUSES.filter((status) => !isFinal(status));
/** Operations and payouts that a row names, wherever it names them. */
const NAMED = /\b(?:op|po)_[\w-]+/g;

/** Which of these objects have not ended. Each table is asked by itself, because they may lie on other servers than the archived ones. */
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

/** The rows that name no operation and no payout that is still under way. */
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

/**
 * Only rows leave that are in the file as they are in the table, so nothing is lost that the file does not have. May be stopped at any
 * point and repeated.
 * @returns how many rows left
 */
export const removeRows = async (
  client: pg.Client,
  { table, file, folder }: { readonly table: ArchivedTable; readonly file: ArchivedFile; readonly folder: string },
): Promise<number> => {
  if (table.mayLeave === null) return 0;
  const { source, sameKey, same } = await batchSql(client, table, file);
  const text = `DELETE FROM ${table.table} d USING ${source} WHERE ${sameKey} AND ${same} AND ${table.mayLeave}`;
  let removed = 0;
  for await (const batch of batchesOf(folder, file, REMOVED_AT_ONCE)) {
    const ended = await endedOnly(client, file, batch);
    if (ended.length > 0) removed += (await client.query(text, valuesOf(file, ended))).rowCount ?? 0;
  }
  return removed;
};
