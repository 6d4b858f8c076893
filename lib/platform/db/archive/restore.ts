/** Restores the rows of a file, and compares rows that are still in the table. */
import type pg from "pg";
import { batchesFor, batchSql, countIn, valuesOf } from "./batches";
import type { ArchivedFile } from "./manifest";
import type { ArchivedTable } from "./tables";

const RESTORED_AT_ONCE = 1_000;

interface FileOfTable {
  readonly table: ArchivedTable;
  readonly file: ArchivedFile;
  readonly folder: string;
}

/**
 * Inserts the missing rows. A row that is still in the table and was changed since is kept. May be
 * stopped and repeated.
 * @returns how many rows were inserted
 * @throws Error when a row of the file is not in the table afterwards
 */
export const restoreRows = async (
  client: pg.Client,
  { table, file, folder }: FileOfTable,
): Promise<number> => {
  const sql = await batchSql(client, table, file);
  const insert = `INSERT INTO ${table.table} (${sql.names}) SELECT ${sql.values} FROM ${sql.source} ON CONFLICT DO NOTHING`;
  let restored = 0;
  for await (const batch of batchesFor(client, { folder, file }, RESTORED_AT_ONCE)) {
    const values = valuesOf(client, file, batch);
    restored +=
      (await client.query(insert, values.slice(0, file.columns.length))).rowCount ?? 0;
    const present = await countIn(client, table, sql, { values });
    if (present !== batch.length)
      throw new Error(
        `${String(batch.length - present)} rows of ${file.file} cannot be brought back: others have their place.`,
      );
  }
  return restored;
};

export const changedRows = async (
  client: pg.Client,
  { table, file, folder }: FileOfTable,
): Promise<number> => {
  const sql = await batchSql(client, table, file);
  let changed = 0;
  for await (const batch of batchesFor(client, { folder, file }, RESTORED_AT_ONCE))
    changed +=
      batch.length -
      (await countIn(client, table, sql, {
        values: valuesOf(client, file, batch),
        also: sql.same,
      }));
  return changed;
};
