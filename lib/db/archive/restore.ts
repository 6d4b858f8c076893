/** Brings the rows of a file back, and compares those that never left. */
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
 * Inserts the rows that are not there. A row that stayed and was changed since is kept as it is. May be stopped and repeated.
 * @returns how many rows came back
 * @throws Error when a row of the file is not in the table afterwards
 */
export const restoreRows = async (client: pg.Client, { table, file, folder }: FileOfTable): Promise<number> => {
  const sql = await batchSql(client, table, file);
  const insert = `INSERT INTO ${table.table} (${sql.names}) SELECT ${sql.values} FROM ${sql.source} ON CONFLICT DO NOTHING`;
  let restored = 0;
  for await (const batch of batchesFor(client, { folder, file }, RESTORED_AT_ONCE)) {
    const values = valuesOf(client, file, batch);
    restored += (await client.query(insert, values.slice(0, file.columns.length))).rowCount ?? 0;
    const present = await countIn(client, table, sql, { values });
    if (present !== batch.length)
      throw new Error(
        `${String(batch.length - present)} rows of ${file.file} cannot be brought back: others have their place.`,
      );
  }
  return restored;
};

/** How many rows of the file are not in the table as the file has them. */
export const changedRows = async (client: pg.Client, { table, file, folder }: FileOfTable): Promise<number> => {
  const sql = await batchSql(client, table, file);
  let changed = 0;
  for await (const batch of batchesFor(client, { folder, file }, RESTORED_AT_ONCE))
    changed +=
      batch.length - (await countIn(client, table, sql, { values: valuesOf(client, file, batch), also: sql.same }));
  return changed;
};
