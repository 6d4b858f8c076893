/** Writes a month of every archived table to files, from one snapshot of the database. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import pg from "pg";
import { isDistributed } from "@/lib/platform/db/sql";
import { writeHashed, writeWhole } from "@/lib/platform/os/hashed-file";
import {
  type ArchivedFile,
  type ArchiveManifest,
  csvLine,
  MANIFEST,
  newManifest,
} from "./manifest";
import {
  ARCHIVED_TABLES,
  type ArchivedTable,
  type Column,
  columnsOf,
  inTransaction,
  type Month,
  schemaOf,
} from "./tables";

const FETCHED_AT_ONCE = 2_000;
const SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

type Row = (string | null)[];

const fetched = async function* (client: pg.Client, text: string): AsyncGenerator<Row[]> {
  await client.query(`DECLARE archived NO SCROLL CURSOR FOR ${text}`);
  for (;;) {
    const { rows } = await client.query<Row>({
      text: `FETCH ${String(FETCHED_AT_ONCE)} FROM archived`,
      rowMode: "array",
    });
    if (rows.length === 0) break;
    yield rows;
  }
  await client.query("CLOSE archived");
};

/**
 * Reads the month's rows of a table in key order, through a cursor of the open transaction. On a
 * cluster there is one cursor for each project, so that one node executes it.
 */
const rowsOf = async function* (
  client: pg.Client,
  { table, key, isIn }: ArchivedTable,
  columns: readonly Column[],
  month: Month,
): AsyncGenerator<Row[]> {
  const texts = columns.map(({ name }) => `d.${name}::text`).join(", ");
  const order = key.map((name) => `d.${name}`).join(", ");
  const read = (condition: string): AsyncGenerator<Row[]> =>
    fetched(client, `SELECT ${texts} FROM ${table} d WHERE ${condition} ORDER BY ${order}`);
  if (!isDistributed(client)) {
    yield* read(isIn(month));
    return;
  }
  const projects = await client.query<{ id: string }>("SELECT id FROM project ORDER BY id");
  for (const { id } of projects.rows)
    yield* read(`d.project_id = ${pg.escapeLiteral(id)} AND ${isIn(month)}`);
};

const writeTable = async (
  client: pg.Client,
  {
    table,
    month,
    folder,
    onRow,
  }: {
    table: ArchivedTable;
    month: Month;
    folder: string;
    onRow: (row: Row, names: readonly string[]) => void;
  },
): Promise<ArchivedFile> => {
  const columns = await columnsOf(client, table.table);
  const names = columns.map(({ name }) => name);
  const keyOf = (row: Row | undefined): string[] | null =>
    row === undefined ? null : table.key.map((name) => row[names.indexOf(name)] ?? "");
  let rows = 0;
  let first: Row | undefined;
  let last: Row | undefined;
  const lines = async function* (): AsyncGenerator<string> {
    for await (const batch of rowsOf(client, table, columns, month)) {
      first ??= batch[0];
      last = batch.at(-1);
      rows += batch.length;
      for (const row of batch) onRow(row, names);
      yield batch.map(csvLine).join("");
    }
  };
  const file = `${table.table}.csv.gz`;
  const written = await writeHashed(Readable.from(lines()), join(folder, file), [createGzip()]);
  return {
    table: table.table,
    file,
    columns: [...columns],
    rows,
    ...written,
    first: keyOf(first),
    last: keyOf(last),
  };
};

/**
 * Writes the month into a folder, which is emptied first. The folder is complete when it has a
 * manifest.
 */
export const writeMonth = async (
  client: pg.Client,
  month: Month,
  folder: string,
): Promise<void> => {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const projects = new Map<string, { first: number; last: number }>();
  const noteEvent = (row: Row, names: readonly string[]): void => {
    const projectId = row[names.indexOf("project_id")] ?? "";
    const sequence = Number(row[names.indexOf("sequence")]);
    const known = projects.get(projectId);
    projects.set(projectId, {
      first: Math.min(known?.first ?? sequence, sequence),
      last: Math.max(known?.last ?? sequence, sequence),
    });
  };
  await inTransaction(client, SNAPSHOT, async () => {
    const files: ArchivedFile[] = [];
    for (const table of ARCHIVED_TABLES)
      files.push(
        await writeTable(client, {
          table,
          month,
          folder,
          onRow: table.table === "event" ? noteEvent : () => undefined,
        }),
      );
    const own: Omit<ArchiveManifest, "version"> = {
      month: month.name,
      writtenAt: new Date().toISOString(),
      schema: await schemaOf(client),
      files,
      projects: [...projects].map(([projectId, range]) => ({ projectId, ...range })),
    };
    await writeWhole(join(folder, MANIFEST), newManifest(own));
  });
};
