/** Gives a table the keys that a distributed table needs: each of them begins with the project. */
import type pg from "pg";
import { DISTRIBUTION_COLUMN, isHot } from "./tables";

type Client = Pick<pg.ClientBase, "query">;

interface Index {
  readonly name: string;
  readonly definition: string;
  readonly isPrimary: boolean;
  readonly columns: readonly string[];
}

interface ForeignKey {
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly columns: readonly string[];
  readonly targetColumns: readonly string[];
}

// All statements on the ledger's tables name the project, so all of their indexes begin with it: between an index of the project alone and one of
// another column the planner may choose the wrong one. Other tables are searched over all projects too, by hashes and times.
const INDEXES = `
  SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition, i.indisprimary AS "isPrimary",
    array(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = $1::text::regclass AND (i.indisunique OR $1::text LIKE 'ledger%')`;

const FOREIGN_KEYS = `
  SELECT conname AS name, conrelid::regclass::text AS source, confrelid::regclass::text AS target,
    array(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number ORDER BY k.place) AS columns,
    array(SELECT a.attname::text FROM unnest(confkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.number ORDER BY k.place) AS "targetColumns"
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`;

const TRIGGERS = `
  SELECT tgname AS name, tgrelid::regclass::text AS table FROM pg_trigger
  WHERE NOT tgisinternal AND tgrelid = ANY($1::regclass[])`;

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const withProject = (columns: readonly string[]): string =>
  quoted([DISTRIBUTION_COLUMN, ...columns.filter((column) => column !== DISTRIBUTION_COLUMN)]);

/** The definition of an index with the project as its first column. */
const withProjectFirst = (definition: string): string =>
  definition.replace(/USING (\w+) \(/, (_, method: string) => `USING ${method} (${DISTRIBUTION_COLUMN}, `);

const reshapeIndexes = async (client: Client, table: string): Promise<void> => {
  await client.query(`ALTER TABLE "${table}" ALTER COLUMN "${DISTRIBUTION_COLUMN}" SET NOT NULL`);
  const { rows } = await client.query<Index>(INDEXES, [table]);
  for (const { name, definition, isPrimary, columns } of rows) {
    if (columns.includes(DISTRIBUTION_COLUMN)) continue;
    if (isPrimary) {
      await client.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${name}"`);
      await client.query(`ALTER TABLE "${table}" ADD CONSTRAINT "${name}" PRIMARY KEY (${withProject(columns)})`);
    } else {
      await client.query(`DROP INDEX "${name}"`);
      await client.query(withProjectFirst(definition));
    }
  }
};

/**
 * Takes away what Citus cannot distribute (triggers, foreign keys of hot tables) and lets the keys begin with the project.
 * @param tables those that are not distributed yet
 * @returns statements for the tables once they are distributed: foreign keys, which name the project as well
 */
export const reshapeTables = async (client: Client, tables: readonly string[]): Promise<string[]> => {
  const triggers = await client.query<{ name: string; table: string }>(TRIGGERS, [[...tables]]);
  for (const { name, table } of triggers.rows) await client.query(`DROP TRIGGER "${name}" ON ${table}`);
  const { rows: keys } = await client.query<ForeignKey>(FOREIGN_KEYS);
  const touching = keys.filter(({ source, target }) => tables.includes(source) || tables.includes(target));
  for (const { name, source } of touching) await client.query(`ALTER TABLE ${source} DROP CONSTRAINT "${name}"`);
  for (const table of tables) await reshapeIndexes(client, table);
  return touching.flatMap(({ name, source, target, columns, targetColumns }) => {
    if (!isHot(source) || !isHot(target)) return [];
    const [from, to] = [withProject(columns), withProject(targetColumns)];
    return [`ALTER TABLE ${source} ADD CONSTRAINT "${name}" FOREIGN KEY (${from}) REFERENCES ${target} (${to})`];
  });
};
