import type pg from "pg";
import type { PrismaClient, Prisma } from "./generated/client";
import { announceLikewise } from "./announcements";
import { likewise } from "./layout";

/** Reads on one connection or pool. */
export interface SqlReader {
  /** Values go in as parameters, so that each statement is planned once for each connection. */
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
}

/** Statements on one connection. */
export interface Sql extends SqlReader {
  /** @returns how many rows it changed */
  change(text: string, values: readonly unknown[]): Promise<number>;
}

/**
 * Statements of a transaction on one connection, sent in a pipeline: a call sends its statement at once, without waiting for the calls before it. The
 * server runs the statements one after another, in the order of the calls. When one fails, all later ones of the transaction fail too (25P02), so the
 * promise to await first is that of the first call: its error is the cause.
 */
export interface PipelinedSql extends Sql, PipelinedReader {}

/** Reads on one connection, sent in a pipeline: each is sent at once, without waiting for those before it, and the server answers them in their order. */
export interface PipelinedReader extends SqlReader {
  /** Calls `give`, and sends all statements that it asked for with one write to the socket. */
  together<T>(give: () => T): T;
}

/** Statements in a transaction of Prisma, or outside of any transaction. */
export const sqlOf = (tx: Prisma.TransactionClient | PrismaClient): Sql => {
  const sql: Sql = {
    query: <Row extends object>(text: string, values: readonly unknown[]) => tx.$queryRawUnsafe<Row[]>(text, ...values),
    change: (text, values) => tx.$executeRawUnsafe(text, ...values),
  };
  announceLikewise(sql, tx);
  return likewise(sql, tx);
};

// Each connection plans a named statement once.
const names = new Map<string, string>();
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `kept_${String(names.size + 1)}`;
  names.set(text, name);
  return name;
};

/** The beginning of a statement that `keptSqlOn` plans at each run too, because its plan depends on the size of an array. */
export const PLANNED_EACH_RUN = "/* planned at each run */";

/** As `sqlOn`, for a few constant statements that run often: each connection keeps their plans. */
export const keptSqlOn = (client: pg.ClientBase | pg.Pool): Sql => {
  const run = <Row extends object>(text: string, values: readonly unknown[]): Promise<pg.QueryResult<Row>> =>
    text.startsWith(PLANNED_EACH_RUN)
      ? client.query<Row>(text, [...values])
      : client.query<Row>({ name: nameOf(text), text, values: [...values] });
  const sql: Sql = {
    query: async <Row extends object>(text: string, values: readonly unknown[]) => (await run<Row>(text, values)).rows,
    change: async (text, values) => (await run(text, values)).rowCount ?? 0,
  };
  return likewise(sql, client);
};

/** Statements on one connection, or on any connection of a pool. They are planned at each run, so their text may vary. */
export const sqlOn = (client: pg.ClientBase | pg.Pool): Sql => {
  const sql: Sql = {
    query: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await client.query<Row>(text, [...values])).rows,
    change: async (text, values) => (await client.query(text, [...values])).rowCount ?? 0,
  };
  return likewise(sql, client);
};
