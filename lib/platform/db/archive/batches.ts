/**
 * Statements over a batch of rows from a file. The rows are passed as parameters: one text array
 * for each column.
 */
import type pg from "pg";
import { type ArchivedFile, batchesOf, type TextRow } from "./manifest";
import { isDistributed } from "@/lib/platform/db/sql";
import { type ArchivedTable, columnsOf } from "./tables";

/** SQL fragments that match the rows of a file (`r`) with the rows of the table (`d`). */
export interface BatchSql {
  /** The batch as the FROM item `r`. */
  readonly source: string;
  /** Condition: `d` has the key of `r`. */
  readonly sameKey: string;
  /** The key of `r` as a list of texts. */
  readonly keyTexts: string;
  /** Condition: `d` equals the row of the file. */
  readonly same: string;
  /** The columns of the table that the file contains, for the list of an INSERT. */
  readonly names: string;
  /** The values of these columns in `r`, in the order of `names`. */
  readonly values: string;
}

/**
 * Creates the SQL fragments for the rows of a file.
 * @throws Error when the table lacks a column of the file, because the archive is of another
 * version
 */
export const batchSql = async (
  client: pg.Client,
  { table, key }: ArchivedTable,
  { columns, file }: ArchivedFile,
): Promise<BatchSql> => {
  const present = new Map(
    (await columnsOf(client, table)).map(({ name, type }) => [name, type]),
  );
  // Names and types from a file become part of statements, so only names and types in the
  // database's catalogue are accepted.
  const foreign = columns.find(({ name, type }) => present.get(name) !== type);
  if (foreign !== undefined)
    throw new Error(
      `${file} has the column ${foreign.name} (${foreign.type}), which ${table} does not have. Use the version of Causeway that wrote it, or one that reads it.`,
    );
  // On a cluster, a further parameter names the project, so that one node executes the statement.
  const isOfProject = isDistributed(client)
    ? [`d.project_id = $${String(columns.length + 1)}::text`]
    : [];
  const place = (name: string): string =>
    `r.c${String(columns.findIndex((one) => one.name === name))}`;
  return {
    source: `unnest(${columns.map((_, index) => `$${String(index + 1)}::text[]`).join(", ")}) AS r (${columns.map((_, index) => `c${String(index)}`).join(", ")})`,
    sameKey: [
      ...key.map((name) => `d.${name} = ${place(name)}::${present.get(name) ?? "text"}`),
      ...isOfProject,
    ].join(" AND "),
    keyTexts: `ARRAY[${key.map(place).join(", ")}]`,
    same: columns
      .map(({ name }) => `d.${name}::text IS NOT DISTINCT FROM ${place(name)}`)
      .join(" AND "),
    names: columns.map(({ name }) => name).join(", "),
    values: columns.map(({ name, type }) => `${place(name)}::${type}`).join(", "),
  };
};

const placeOfProject = ({ columns }: ArchivedFile): number =>
  columns.findIndex(({ name }) => name === "project_id");

/**
 * The rows of the file in batches of at most `size`. On a cluster each batch has rows of only one
 * project, so that one node executes its statements.
 */
export const batchesFor = async function* (
  client: pg.Client,
  { folder, file }: { readonly folder: string; readonly file: ArchivedFile },
  size: number,
): AsyncGenerator<readonly TextRow[]> {
  const place = placeOfProject(file);
  for await (const batch of batchesOf(folder, file, size)) {
    if (!isDistributed(client)) {
      yield batch;
      continue;
    }
    for (const projectId of new Set(batch.map((row) => row[place])))
      yield batch.filter((row) => row[place] === projectId);
  }
};

export const valuesOf = (
  client: pg.Client,
  file: ArchivedFile,
  batch: readonly TextRow[],
): unknown[] => {
  const values = file.columns.map((_, index) => batch.map((row) => row[index] ?? null));
  return isDistributed(client) ? [...values, batch[0]?.[placeOfProject(file)]] : values;
};

/**
 * How many rows of the batch are in the table. `also` is a further SQL condition, such as `same`.
 */
export const countIn = async (
  client: pg.Client,
  { table }: ArchivedTable,
  { source, sameKey }: BatchSql,
  { values, also = "true" }: { readonly values: readonly unknown[]; readonly also?: string },
): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${source} JOIN ${table} d ON ${sameKey} WHERE ${also}`,
    [...values],
  );
  return rows[0]?.count ?? 0;
};
