import pg from "pg";
import {
  type Announcement,
  collectAnnouncements,
  COMMIT_IN_TWO_PHASES,
  createLayout,
  isDistributed,
  likewise,
  type Sql,
  sqlBy,
} from "@/lib/platform/db/sql";
import { requireTimeToCommit } from "@/lib/core/request-time";
import { createPool } from "@/lib/platform/db/pool";
import { ConnectionLostError, ConflictError } from "./errors";

export interface LedgerPoolOptions {
  readonly poolSize?: number;
  /**
   * True when the URL leads to a pooler. The role of a connection is then set again in each
   * transaction, because a pooler gives each transaction another connection
   * (lib/platform/db/pool.ts).
   */
  readonly isPooled?: boolean;
  /** Called after each commit with the announcements from `asApp`. Must not throw. */
  readonly onAnnounced?: (announcements: readonly Announcement[]) => void;
}

export interface LedgerTx extends Sql {
  /**
   * Runs `work` in the same transaction with the app's role, so that it can write the app's other
   * tables. The ledger's tables are append-only for that role, too.
   */
  asApp<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

const CONNECT_TIMEOUT_MS = 5_000;

const ROLE = "causeway_ledger";
// PostgreSQL 15 does not have the privilege SET. There, every member of a role may switch to it.
const MAY_TAKE_ROLE = `SELECT 1 FROM pg_roles WHERE rolname = '${ROLE}' AND pg_has_role(current_user, oid,
  CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'MEMBER' ELSE 'SET' END)`;

// SQLSTATE codes after which the connection is treated as lost. 25P03 and 25P04 mean that the
// server closed it, because its transaction was idle or ran for too long.
const CONNECTION_CODES = /^(08|57P0|53300|25P0[34])/;
const CONFLICT_CODES: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);

const translate = (error: unknown): Error => {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    if (CONNECTION_CODES.test(code))
      return new ConnectionLostError(error.message, { cause: error });
    if (CONFLICT_CODES.has(code)) return new ConflictError(error.message, { cause: error });
    return error;
  }
  // An error that does not come from the server is a connection error.
  const reason = error instanceof Error ? error.message : String(error);
  return new ConnectionLostError(reason, { cause: error });
};

// For each statement's text, its name. Statements are named, so that each connection plans them
// only once.
const names = new Map<string, string>();
const nameOf = (text: string): string => {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `ledger_${String(names.size + 1)}`;
  names.set(text, name);
  return name;
};

const sqlOn = (client: pg.ClientBase, kept: "named" | "unnamed" = "named"): Sql => {
  const run = async <Row extends object>(
    text: string,
    values: readonly unknown[],
  ): Promise<pg.QueryResult<Row>> => {
    try {
      const name = kept === "named" ? { name: nameOf(text) } : {};
      return await client.query<Row>({ ...name, text, values: [...values] });
    } catch (error) {
      throw translate(error);
    }
  };
  return sqlBy({
    query: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await run<Row>(text, values)).rows,
    change: async (text, values) => (await run(text, values)).rowCount ?? 0,
  });
};

const command = async (client: pg.ClientBase, text: string): Promise<void> => {
  try {
    await client.query(text);
  } catch (error) {
    throw translate(error);
  }
};

export const createLedgerRepository = (
  url: string,
  { poolSize = 10, isPooled = false, onAnnounced }: LedgerPoolOptions = {},
) => {
  const pool = createPool(url, {
    max: poolSize,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    isPooled,
  });
  const findLayout = createLayout(pool);
  const restricted = new WeakMap<pg.ClientBase, boolean>();

  /** Opens a connection with the restricted role, if the server has it. */
  const connect = async (): Promise<{ client: pg.PoolClient; hasRole: boolean }> => {
    const client = await pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    const known = restricted.get(client);
    if (known !== undefined) return { client, hasRole: known };
    try {
      await findLayout(client);
      // A node of a Citus cluster refuses two roles in one transaction, so the app's role is used
      // there. The app's role cannot change posted rows either.
      const hasRole =
        !isDistributed(pool) && (await sqlOn(client).query(MAY_TAKE_ROLE, [])).length > 0;
      if (hasRole && !isPooled) await command(client, `SET ROLE ${ROLE}`);
      restricted.set(client, hasRole);
      return { client, hasRole };
    } catch (error) {
      client.release(true);
      throw error;
    }
  };

  const on = async <T>(
    work: (client: pg.ClientBase, hasRole: boolean) => Promise<T>,
  ): Promise<T> => {
    const { client, hasRole } = await connect();
    let broken = true;
    try {
      const result = await work(client, hasRole);
      broken = false;
      return result;
    } catch (error) {
      broken = error instanceof ConnectionLostError;
      throw error;
    } finally {
      client.release(broken);
    }
  };

  const transact = <T>(
    work: (tx: LedgerTx) => Promise<T>,
    announced: Announcement[],
  ): Promise<T> =>
    on(async (client, hasRole) => {
      const begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
      await command(client, hasRole && isPooled ? `${begin}; SET LOCAL ROLE ${ROLE}` : begin);
      try {
        const sql = sqlOn(client);
        const asApp: LedgerTx["asApp"] = async (inner) => {
          if (hasRole) await command(client, "SET LOCAL ROLE NONE");
          // Callers change rows of the coordinator, but the ledger's rows are on one node, so the
          // commit needs two phases.
          if (isDistributed(pool)) await command(client, COMMIT_IN_TWO_PHASES);
          // Callers may send statements of any text. Naming them would fill the server's memory
          // with plans.
          const app = likewise(sqlOn(client, "unnamed"), pool);
          collectAnnouncements(app, announced);
          const result = await inner(app);
          if (hasRole) await command(client, `SET LOCAL ROLE ${ROLE}`);
          return result;
        };
        const result = await work({ ...sql, asApp });
        requireTimeToCommit();
        await command(client, "COMMIT");
        return result;
      } catch (error) {
        if (error instanceof ConnectionLostError) throw error;
        await command(client, "ROLLBACK");
        throw error;
      }
    });

  const inTransaction = async <T>(work: (tx: LedgerTx) => Promise<T>): Promise<T> => {
    const announced: Announcement[] = [];
    const result = await transact(work, announced);
    if (announced.length > 0) onAnnounced?.(announced);
    return result;
  };

  return {
    /**
     * Runs `work` in one READ COMMITTED transaction.
     * @throws ConnectionLostError, ConflictError, and the errors of `work`
     */
    inTransaction,
    /**
     * Runs one statement outside of any transaction.
     * @throws ConnectionLostError
     */
    query: <Row extends object>(
      text: string,
      values: readonly unknown[],
    ): Promise<readonly Row[]> => on((client) => sqlOn(client).query<Row>(text, values)),
    /** For metrics of the connections in use. */
    pool,
    close: (): Promise<void> => pool.end(),
  };
};

export type LedgerRepository = ReturnType<typeof createLedgerRepository>;
