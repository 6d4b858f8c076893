/** Statements over a batch of rows of a file, which are parameters: one array of texts for each column. */
import type pg from "pg";
import type { TextRow } from "./csv";
import type { ArchivedFile } from "./manifest";
import { columnsOf } from "./session";
import type { ArchivedTable } from "./tables";

/** How a file's rows are matched with those of the table. */
export interface BatchSql {
  /** The batch as the row source `r`. */
  readonly source: string;
  /** Whether `d` has the key of `r`. */
  readonly sameKey: string;
  /** Whether `d` is the row of the file, unchanged. */
  readonly same: string;
  /** The columns, and their values in `r`, for an insert. */
  readonly names: string;
  readonly values: string;
}

/** @throws Error when the table has no such columns any more: the archive is of another version */
export const batchSql = async (
  client: pg.Client,
  { table, key }: ArchivedTable,
  { columns, file }: ArchivedFile,
): Promise<BatchSql> => {
  const present = new Map((await columnsOf(client, table)).map(({ name, type }) => [name, type]));
  // Names and types of a file become part of statements, so only those of the catalogue are taken.
  const foreign = columns.find(({ name, type }) => present.get(name) !== type);
  if (foreign !== undefined)
    throw new Error(
      `${file} has the column ${foreign.name} (${foreign.type}), which ${table} does not have. Use the version of Causeway that wrote it, or one that reads it.`,
    );
  const place = (name: string): string => `r.c${String(columns.findIndex((one) => one.name === name))}`;
  return {
    source: `unnest(${columns.map((_, index) => `$${String(index + 1)}::text[]`).join(", ")}) AS r (${columns.map((_, index) => `c${String(index)}`).join(", ")})`,
    sameKey: key.map((name) => `d.${name} = ${place(name)}::${present.get(name) ?? "text"}`).join(" AND "),
    same: columns.map(({ name }) => `d.${name}::text IS NOT DISTINCT FROM ${place(name)}`).join(" AND "),
    names: columns.map(({ name }) => name).join(", "),
    values: columns.map(({ name, type }) => `${place(name)}::${type}`).join(", "),
  };
};

/** The parameters of a batch. */
export const valuesOf = ({ columns }: ArchivedFile, batch: readonly TextRow[]): (string | null)[][] =>
  columns.map((_, index) => batch.map((row) => row[index] ?? null));

/** How many rows of the batch are in the table. `also` is a further condition, such as `same`. */
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
