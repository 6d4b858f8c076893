import type { z } from "zod";
import type { EvmAddress } from "@/lib/core/evm";
import { storedAddress, storedText } from "./codecs";
import type { SqlReader } from "./sql";
import { join, raw, sql, type Statement } from "./statement";

/**
 * How the values of a column are read and written. `T` is the type that the program works with.
 */
export interface Column<T> {
  readonly type: string;
  /** SQL that selects the column in the form that `read` expects. */
  readonly select: (name: string) => string;
  /** Converts a stored value. @throws ZodError when the value does not have the expected shape */
  readonly read: (stored: unknown) => T;
  /** The value as a parameter, or as a member of a JSON row. */
  readonly write: (value: T) => unknown;
}

/** A column whose values the driver reads and writes as they are. */
const plain = <T>(type: string): Column<T> => ({
  type,
  select: (name) => name,
  read: (stored) => stored as T,
  write: (value) => value,
});

export const text = plain<string>("text");
export const int = plain<number>("int");
export const bool = plain<boolean>("boolean");
export const time = plain<Date>("timestamptz");

/** A whole number as a bigint. It is read as text, since a double cannot hold all of them. */
const whole = (type: string): Column<bigint> => ({
  type,
  select: (name) => `${name}::text`,
  read: (stored) => BigInt(stored as string),
  write: (value) => value.toString(),
});

/** NUMERIC(78,0): base units of a token, or millionths of a dollar. */
export const base = whole("numeric");
/** BIGINT, for example the number of a block. */
export const int8 = whole("bigint");

/** BIGINT that a double holds exactly, for example a number of rows. */
export const count: Column<number> = {
  ...plain<number>("bigint"),
  select: (name) => `${name}::float8`,
};

export const float = plain<number>("float8");
/** Hexadecimal text that the service wrote itself. It may be long, so its format is not checked. */
export const hex = plain<`0x${string}`>("text");

/** NUMERIC as a decimal string. */
export const decimal: Column<string> = {
  ...plain<string>("numeric"),
  select: (name) => `${name}::text`,
};

/** DATE as `2026-01-31`. */
export const date: Column<string> = {
  ...plain<string>("date"),
  select: (name) => `${name}::text`,
};

/** BYTEA. A JSON row contains it as hexadecimal text. */
export const bytes: Column<Uint8Array> = {
  ...plain<Uint8Array>("bytea"),
  write: (value) => `\\x${Buffer.from(value).toString("hex")}`,
};

export const address: Column<EvmAddress> = {
  ...plain<EvmAddress>("text"),
  read: (stored) => storedAddress.parse(stored),
};

export const oneOf = <const Value extends string>(schema: z.ZodType<Value>): Column<Value> => ({
  ...plain<Value>("text"),
  read: (stored) => schema.parse(stored),
});

/** JSONB that the schema reads. Bigints are stored as decimal strings. */
export const json = <T>(schema: z.ZodType<T>): Column<T> => ({
  ...plain<T>("jsonb"),
  read: (stored) => schema.parse(stored),
});

/** An array of values that the driver reads as they are. */
export const arrayOf = <T>(item: Column<T>): Column<readonly T[]> => ({
  ...plain<readonly T[]>(`${item.type}[]`),
  read: (stored) => (stored as readonly unknown[]).map(item.read),
  write: (values) => values.map(item.write),
});

export const nullable = <T>(column: Column<T>): Column<T | null> => ({
  ...column,
  read: (stored) => (stored === null ? null : column.read(stored)),
  write: (value) => (value === null ? null : column.write(value)),
});

interface AnyColumn extends Omit<Column<unknown>, "write"> {
  readonly write: (value: never) => unknown;
}
type Columns = Readonly<Record<string, AnyColumn>>;

type RowOfColumns<Described extends Columns> = {
  readonly [Field in keyof Described]: ReturnType<Described[Field]["read"]>;
};

export type RowOf<Described extends { readonly read: (row: never) => unknown }> = ReturnType<
  Described["read"]
>;

interface ListOptions<Field> {
  /**
   * Passes the number of rows to PostgreSQL. Otherwise PostgreSQL expects a hundred rows, and scans
   * a whole table instead of looking up each row.
   */
  readonly isCounted?: true;
  /**
   * Sorts the rows by the bytes of this field. A statement that locks each row in a LATERAL
   * subquery then locks them in this order and looks each up by key. With a join on a table without
   * statistics, PostgreSQL would expect nearly no rows in a project and scan all of it.
   */
  readonly orderedBy?: Field;
}

/** The columns of a table or of a query. */
export interface Table<Described extends Columns> {
  /**
   * The names of the columns, for the list of an INSERT and the SELECT that feeds it: `project_id,
   * created_at`.
   */
  readonly names: Statement;
  /**
   * The columns for a SELECT whose rows `read` converts: `d.project_id AS "projectId", …`.
   * @param alias of the table in the statement
   */
  readonly columns: (alias?: string) => Statement;
  /**
   * Converts a row of a SELECT of `columns`. @throws ZodError when a value does not have its shape
   */
  readonly read: (row: object) => RowOfColumns<Described>;
  readonly all: (db: SqlReader, statement: Statement) => Promise<RowOfColumns<Described>[]>;
  readonly first: (
    db: SqlReader,
    statement: Statement,
  ) => Promise<RowOfColumns<Described> | null>;
  /**
   * Rows as a list for a FROM clause, passed as one JSON parameter: `FROM ${table.list(rows)} AS
   * row`. Fields without a column are left out.
   */
  readonly list: (
    rows: readonly RowOfColumns<Described>[],
    options?: ListOptions<keyof Described & string>,
  ) => Statement;
  /** The same columns, named with this prefix in the rows of a SELECT that joins several tables. */
  readonly under: (prefix: string) => Table<Described>;
  /**
   * The values of one row in the order of `names`: `INSERT INTO t (${t.names}) VALUES
   * (${t.values(row)})`. On a cluster such an INSERT goes directly to the row's node, whereas the
   * rows of a SELECT from a list are copied.
   */
  readonly values: (row: RowOfColumns<Described>) => Statement;
  /** The table with only the named columns. */
  readonly pick: <Field extends keyof Described & string>(
    ...fields: readonly Field[]
  ) => Table<Pick<Described, Field>>;
}

/**
 * Returns the column name of a field.
 * @example nameOf("walletAddress") // "wallet_address"
 */
export const nameOf = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const valueIn = ({ type, write }: AnyColumn, value: unknown): Statement => {
  const written = write(value as never);
  const parameter = type === "jsonb" && written !== null ? storedText(written) : written;
  return sql`${parameter}::${raw(type)}`;
};

const valueOf = (row: object, field: string): unknown =>
  (row as Readonly<Record<string, unknown>>)[field];

/**
 * Describes the columns of a table. A column has the name of its field in snake case.
 * @example
 * const contacts = table({ projectId: text, name: text, amountBase: nullable(base) });
 * contacts.all(db, sql`SELECT ${contacts.columns("c")} FROM contact c WHERE c.project_id = ${id}`);
 */
export const table = <const Described extends Columns>(
  described: Described,
): Table<Described> => tableUnder("", described);

const tableUnder = <const Described extends Columns>(
  under: string,
  described: Described,
): Table<Described> => {
  const fields = Object.keys(described);
  const columnOf = (field: string): AnyColumn => described[field] as AnyColumn;
  const names = raw(fields.map(nameOf).join(", "));
  const types = raw(
    fields.map((field) => `${nameOf(field)} ${columnOf(field).type}`).join(", "),
  );
  const read = (row: object) =>
    Object.fromEntries(
      fields.map((field) => [field, columnOf(field).read(valueOf(row, under + field))]),
    ) as RowOfColumns<Described>;
  const written = (row: object): object =>
    Object.fromEntries(
      fields.map((field) => [
        nameOf(field),
        columnOf(field).write(valueOf(row, field) as never),
      ]),
    );
  const all = async (db: SqlReader, statement: Statement) =>
    (await db.query<object>(statement)).map(read);
  return {
    names,
    columns: (alias) => {
      const prefix = alias === undefined ? "" : `${alias}.`;
      const selected = fields.map(
        (field) => `${columnOf(field).select(prefix + nameOf(field))} AS "${under}${field}"`,
      );
      return raw(selected.join(", "));
    },
    read,
    all,
    first: async (db, statement) => (await all(db, statement))[0] ?? null,
    list: (rows, { isCounted, orderedBy } = {}) => {
      const json = storedText(rows.map(written));
      const order =
        orderedBy === undefined ? "" : ` ORDER BY listed.${nameOf(orderedBy)} COLLATE "C"`;
      const limit = isCounted === true ? sql` LIMIT ${rows.length}::int` : raw("");
      const rowsOf = sql`jsonb_to_recordset(${json}::jsonb) AS listed (${types})`;
      return sql`(SELECT * FROM ${rowsOf}${raw(order)}${limit})`;
    },
    under: (prefix) => tableUnder(prefix, described),
    values: (row) =>
      join(
        fields.map((field) => valueIn(columnOf(field), valueOf(row, field))),
        ", ",
      ),
    pick: (...picked) =>
      tableUnder(
        under,
        Object.fromEntries(picked.map((field) => [field, columnOf(field)])) as Pick<
          Described,
          (typeof picked)[number]
        >,
      ),
  };
};
