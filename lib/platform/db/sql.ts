import type pg from "pg";
import type { Prisma, PrismaClient } from "./generated/client";
import { Statement } from "./statement";

/** An announcement to all instances, which is sent outside of a transaction, after its commit. */

export interface Announcement {
  readonly channel: string;
  readonly payload: string;
  /** Announced only within this process. */
  readonly isLocal?: boolean;
}

const open = new WeakMap<object, Announcement[]>();

/**
 * Announces something when the transaction commits; nothing when it is rolled back. NOTIFY inside
 * the transaction would hold a lock of the whole server until the commit is on disk. An
 * announcement is lost when the process dies first, so a process that waits for one must also poll.
 * @param transaction the object that `Database.transaction` or `Database.rawTransaction` passed to
 * its callback, or the result of `sqlOf` on it; for any other object nothing is announced
 */
export const announce = (transaction: object, announcement: Announcement): void => {
  open.get(transaction)?.push(announcement);
};

/** Makes announcements on `connection` count as announcements of `transaction`. */
const announceLikewise = (connection: object, transaction: object): void => {
  const announced = open.get(transaction);
  if (announced !== undefined) open.set(connection, announced);
};

export const collectAnnouncements = (transaction: object, into: Announcement[]): void => {
  open.set(transaction, into);
};

// Remembers which connections lead to a cluster with distributed hot tables; see
// lib/platform/db/distribution.

const distributed = new WeakSet<object>();
/** Maps each object to the connection from which it was made. */
const sources = new WeakMap<object, object>();
/**
 * For each pool, a function that asks its server once whether tables are distributed, and marks the
 * pool. `createLayout` adds it.
 */
const questions = new WeakMap<object, () => Promise<void>>();

/**
 * Whether statements on `connection` may use distributed tables. `connection` is a pool, a
 * transaction, a Prisma client, or the result of `sqlOn` and similar functions.
 */
export const isDistributed = (connection: object): boolean => {
  for (let at: object | undefined = connection; at !== undefined; at = sources.get(at))
    if (distributed.has(at)) return true;
  return false;
};

/**
 * Like `isDistributed`, but first asks the server, unless it was asked before. Inside a transaction
 * the answer is known.
 */
export const findDistributed = async (connection: object): Promise<boolean> => {
  for (let at: object | undefined = connection; at !== undefined; at = sources.get(at))
    await questions.get(at)?.();
  return isDistributed(connection);
};

/** SQL for a cluster: the group of the node that has the rows of the project. */
export const nodeOfProject = (project: string): string => `(
  SELECT min(d.groupid) FROM pg_dist_placement d WHERE d.shardid = get_shard_id_for_distribution_column('event', ${project}))`;

/**
 * Records that `connection` was made from `source`, so that `isDistributed` has the same result for
 * both. @returns `connection`
 */
export const likewise = <T extends object>(connection: T, source: object): T => {
  sources.set(connection, source);
  return connection;
};

/**
 * For a transaction on a cluster that may change rows of the coordinator and of a node: makes
 * Citus commit in two phases. Without this statement, Citus uses two phases only when rows of
 * several nodes changed or were copied. In other cases the node commits before the coordinator,
 * which may crash in between, so that an operation would be stored without its job. The statement
 * copies no row, so no node is contacted.
 */
export const COMMIT_IN_TWO_PHASES =
  "INSERT INTO operation_event (project_id) SELECT p FROM unnest('{}'::text[]) AS p";

// The server is asked once for each pool. The answer cannot change while a process of the service
// runs, because `npm run db:distribute` does not run then.
const IS_DISTRIBUTED = `
  SELECT count(*) > 0 AS "is" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'pg_catalog' AND c.relname = 'pg_dist_partition'
    AND EXISTS (SELECT FROM pg_proc WHERE proname = 'citus_version')`;
const COUNT = `SELECT count(*) > 0 AS "is" FROM pg_dist_partition WHERE partmethod = 'h'`;

export const createLayout = (
  pool: Pick<pg.Pool, "query">,
): ((client?: Pick<pg.ClientBase, "query">) => Promise<void>) => {
  let known: Promise<void> | null = null;
  const ask = async (client: Pick<pg.ClientBase, "query">): Promise<void> => {
    const asks = async (text: string): Promise<boolean> =>
      (await client.query<{ is: boolean }>(text)).rows[0]?.is === true;
    if ((await asks(IS_DISTRIBUTED)) && (await asks(COUNT))) distributed.add(pool);
  };
  const find = (client: Pick<pg.ClientBase, "query"> = pool): Promise<void> => {
    known ??= ask(client).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
  questions.set(pool, () => find());
  return find;
};

export interface SqlReader {
  query<Row extends object>(statement: Statement): Promise<readonly Row[]>;
  /**
   * Values are passed as parameters, so that each statement is planned once for each connection.
   */
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
}

export interface Sql extends SqlReader {
  /** @returns the number of changed rows */
  change(statement: Statement): Promise<number>;
  change(text: string, values: readonly unknown[]): Promise<number>;
}

export interface Driver {
  readonly query: <Row extends object>(
    text: string,
    values: readonly unknown[],
  ) => Promise<readonly Row[]>;
  readonly change: (text: string, values: readonly unknown[]) => Promise<number>;
}

/**
 * Prisma takes no bigint above 2^63 as a parameter, and sends times without their zone, so the
 * drivers get both as text.
 */
const toParameter = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? value.map(toParameter) : value;
};

type Arguments = readonly [text: string, values: readonly unknown[]];

const argumentsOf = (statement: Statement | string, values: readonly unknown[]): Arguments =>
  statement instanceof Statement
    ? [statement.text, statement.values.map(toParameter)]
    : [statement, values];

export const sqlBy = (driver: Driver): Sql => ({
  query: <Row extends object>(statement: Statement | string, values: readonly unknown[] = []) =>
    driver.query<Row>(...argumentsOf(statement, values)),
  change: (statement: Statement | string, values: readonly unknown[] = []) =>
    driver.change(...argumentsOf(statement, values)),
});

/**
 * Statements of a transaction on one connection, sent in a pipeline: a call sends its statement
 * immediately, without waiting for earlier calls. The server runs the statements in the order of
 * the calls. When one fails, all later ones of the transaction fail too (25P02), so await the
 * promise of the first call first: its error is the cause.
 */
export interface PipelinedSql extends Sql, PipelinedReader {}

/**
 * Reads on one connection, sent in a pipeline: each is sent immediately, without waiting for
 * earlier ones, and the server answers them in order.
 */
export interface PipelinedReader extends SqlReader {
  /** Calls `give`, and sends all of its statements with one write to the socket. */
  together<T>(give: () => T): T;
}

export const sqlOf = (tx: Prisma.TransactionClient | PrismaClient): Sql => {
  const sql = sqlBy({
    query: <Row extends object>(text: string, values: readonly unknown[]) =>
      tx.$queryRawUnsafe<Row[]>(text, ...values),
    change: (text, values) => tx.$executeRawUnsafe(text, ...values),
  });
  announceLikewise(sql, tx);
  return likewise(sql, tx);
};

// For each statement's text, its name. Each connection plans a named statement only once.
const names = new Map<string, string>();
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `kept_${String(names.size + 1)}`;
  names.set(text, name);
  return name;
};

/**
 * The prefix of a statement that even `keptSqlOn` plans at each run, because its plan depends on
 * the size of an array.
 */
export const PLANNED_EACH_RUN = "/* planned at each run */";

/**
 * Like `sqlOn`, for a few constant statements that run often: each connection caches their plans.
 */
export const keptSqlOn = (client: pg.ClientBase | pg.Pool): Sql => {
  const run = <Row extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> =>
    text.startsWith(PLANNED_EACH_RUN)
      ? client.query<Row>(text, [...values])
      : client.query<Row>({ name: nameOf(text), text, values: [...values] });
  const sql = sqlBy({
    query: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await run<Row>(text, values)).rows,
    change: async (text, values) => (await run(text, values)).rowCount ?? 0,
  });
  return likewise(sql, client);
};

/**
 * Statements on one connection, or on any connection of a pool. They are planned at each run, so
 * their text may vary.
 */
export const sqlOn = (client: pg.ClientBase | pg.Pool): Sql => {
  const sql = sqlBy({
    query: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await client.query<Row>(text, [...values])).rows,
    change: async (text, values) => (await client.query(text, [...values])).rowCount ?? 0,
  });
  return likewise(sql, client);
};
