import type { Writable } from "node:stream";
import { PrismaPg } from "@prisma/adapter-pg";
import type pg from "pg";
import {
  type Announcement,
  collectAnnouncements,
  COMMIT_IN_TWO_PHASES,
  createLayout,
  findDistributed,
  isDistributed,
  keptSqlOn,
  likewise,
  type PipelinedReader,
  type PipelinedSql,
  type Sql,
  sqlBy,
  sqlOn,
} from "./sql";
import { PrismaClient, type Prisma } from "./generated/client";
import { createPool } from "./pool";
import { requireTimeToCommit } from "@/lib/core/request-time";

/** A Prisma client inside a transaction. Repositories take `Tx | PrismaClient`. */
export type Tx = Prisma.TransactionClient;
export type Queryable = Tx;

export interface Database {
  /** Prisma outside of any transaction. */
  readonly prisma: PrismaClient;
  /** Connections without Prisma, for LISTEN and for hot paths on which Prisma is too slow. */
  readonly pool: pg.Pool;
  /**
   * Runs `work` in one READ COMMITTED transaction. Make no network call inside, because the
   * transaction would hold its locks during the call.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `transaction` without Prisma, on a connection of the raw pool. It is for statements with
   * thousands of values, because Prisma would examine each value several times.
   * @param toSql `keptSqlOn` for constant statements whose plans each connection caches; by
   * default each statement is planned at each run
   */
  rawTransaction<T>(
    work: (sql: PipelinedSql) => Promise<T>,
    toSql?: (client: pg.ClientBase) => Sql,
  ): Promise<T>;
  /**
   * Runs one constant statement, which is a transaction by itself and needs no BEGIN and COMMIT.
   * When `work` runs several statements, they may use different connections.
   */
  rawStatement<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Reads on one connection outside of any transaction, sent in a pipeline. Each read sees
   * everything that was committed before the previous read ended.
   */
  reading<T>(work: (sql: PipelinedReader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const TRANSACTION_TIMEOUT_MS = 10_000;
const TRANSACTION_WAIT_MS = 10_000;

/**
 * Collects everything that the driver writes while `give` runs, and sends it with one write. The
 * driver has no method for this, so its socket is corked.
 */
const togetherOn =
  (client: pg.ClientBase): PipelinedSql["together"] =>
  (give) => {
    const { stream } = (
      client as unknown as { readonly connection: { readonly stream: Writable } }
    ).connection;
    stream.cork();
    try {
      return give();
    } finally {
      stream.uncork();
    }
  };

export const inRawTransaction = async <T>(
  pool: pg.Pool,
  work: (sql: PipelinedSql) => Promise<T>,
  toSql: (client: pg.ClientBase) => Sql = sqlOn,
): Promise<T> => {
  // Checked before a connection is taken, because the check needs a connection itself.
  const isCluster = await findDistributed(pool);
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    if (isCluster) await client.query(COMMIT_IN_TWO_PHASES);
    const result = await work(
      likewise({ ...toSql(client), together: togetherOn(client) }, pool),
    );
    const { command } = await client.query("COMMIT");
    // After a failed statement PostgreSQL answers a COMMIT with ROLLBACK, and reports no error.
    if (command !== "COMMIT")
      throw new Error("The transaction was rolled back: one of its statements failed.");
    return result;
  } catch (error) {
    isBroken = await client.query("ROLLBACK").then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.release(isBroken);
  }
};

const inReads = async <T>(
  pool: pg.Pool,
  work: (sql: PipelinedReader) => Promise<T>,
): Promise<T> => {
  const client = await pool.connect();
  const sql = keptSqlOn(client);
  const sent: Promise<unknown>[] = [];
  let isOver = false;
  const send = <Row extends object>(text: string, values: readonly unknown[]) => {
    // The connection may belong to another caller by now.
    if (isOver) return Promise.reject(new Error("The reads are over: one of them failed."));
    const answer = sql.query<Row>(text, values);
    sent.push(answer);
    return answer;
  };
  try {
    const { query } = sqlBy({ query: send, change: sql.change });
    return await work(likewise({ query, together: togetherOn(client) }, pool));
  } finally {
    isOver = true;
    const answers = await Promise.allSettled(sent);
    // After a failed read the connection is closed, because it may be broken.
    client.release(answers.some(({ status }) => status === "rejected"));
  }
};

/** Runs a transaction whose COMMIT needs time that is left to the current request. */
const inTime = <Transaction, T>(
  run: (work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> =>
  run(async (transaction) => {
    const done = await work(transaction);
    requireTimeToCommit();
    return done;
  });

export interface DatabaseOptions {
  readonly poolSize?: number;
  readonly isPooled?: boolean;
  /** Called after each commit with the announcements of its transaction; must not throw. */
  readonly onAnnounced?: (announcements: readonly Announcement[]) => void;
}

/**
 * Connects lazily. Prisma and the statements without it share the `poolSize` connections of one
 * pool.
 */
export const createDatabase = (url: string, options: DatabaseOptions = {}): Database => {
  const announcing = async <Transaction extends object, T>(
    run: (work: (transaction: Transaction) => Promise<T>) => Promise<T>,
    work: (transaction: Transaction) => Promise<T>,
  ): Promise<T> => {
    const announced: Announcement[] = [];
    await findLayout();
    const result = await run((transaction) => {
      collectAnnouncements(likewise(transaction, pool), announced);
      return work(transaction);
    });
    if (announced.length > 0) options.onAnnounced?.(announced);
    return result;
  };
  const pool = createPool(url, {
    max: options.poolSize ?? 10,
    isPooled: options.isPooled ?? false,
  });
  const prisma = likewise(new PrismaClient({ adapter: new PrismaPg(pool) }), pool);
  const findLayout = createLayout(pool);
  return {
    prisma,
    pool,
    transaction: (work) =>
      announcing(
        (run) =>
          inTime(
            (timed) =>
              prisma.$transaction(timed, {
                timeout: TRANSACTION_TIMEOUT_MS,
                maxWait: TRANSACTION_WAIT_MS,
              }),
            run,
          ),
        async (tx: Tx) => {
          if (isDistributed(pool)) await tx.$executeRawUnsafe(COMMIT_IN_TWO_PHASES);
          return work(tx);
        },
      ),
    rawTransaction: (work, toSql) =>
      announcing((run) => inTime((timed) => inRawTransaction(pool, timed, toSql), run), work),
    rawStatement: (work) => announcing((run) => run(keptSqlOn(pool)), work),
    reading: (work) => inReads(pool, work),
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
};
