import pg from "pg";
import { inSpan, isTracing } from "@/lib/core/tracing";
import { connectionOf, SERVICE_LIMITS } from "./limits";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 25_000; // For a network that swallows answers; above what the server allows one statement.
const READ_TIMEOUT = "Query read timeout";

/**
 * A connection whose loss does not end the process. After a query timed out the connection is closed: the server may still execute
 * the query, and the next user's statements would run inside a transaction that was left open.
 */
class BoundedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // The next statement reports a connection that broke between two statements. Without a listener the event would end the process.
    this.on("error", () => undefined);
  }

  readonly #end = (error: unknown): void => {
    if (!(error instanceof Error) || error.message !== READ_TIMEOUT) return;
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  };

  // The driver's type has seven overloads; all arguments are passed on.
  override query = ((...parts: unknown[]): unknown => {
    const run = (): unknown => Reflect.apply(pg.Client.prototype.query, this, parts);
    // A call with a callback comes from the pool, whose own `query` has a span already.
    const result = typeof parts.at(-1) === "function" ? run() : inStatementSpan(parts[0], run);
    // Calls with a callback come from the pool, which closes failed connections itself.
    if (result instanceof Promise) result.catch(this.#end);
    return result;
  }) as pg.Client["query"];
}

/** Sends every statement without a name: behind a pooler a name may belong to another client's statement, or to none. */
class UnnamedClient extends BoundedClient {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const run = this.query as (...parts: unknown[]) => unknown;
    this.query = ((statement: unknown, ...parts: unknown[]): unknown => {
      const isNamed = typeof statement === "object" && statement !== null && "name" in statement;
      return run(isNamed ? { ...statement, name: undefined } : statement, ...parts);
    }) as pg.Client["query"];
  }
}

export interface PoolOptions {
  readonly max: number;
  readonly connectTimeoutMs?: number;
  /**
   * The URL names a pooler that lends its connections for one transaction (PgBouncer, `pool_mode = transaction`). Nothing may be left on a
   * connection between two transactions: no named statement, no SET, no LISTEN, no advisory lock of a session.
   */
  readonly isPooled?: boolean;
}

// A statement that begins with WITH may write too; locks (FOR UPDATE) and conflicts (DO UPDATE) are no writes.
const WRITE = /(?<!\b(?:for|do|key)\s+)\b(insert into|update|delete from)\s+(?:"?public"?\.)?"?([a-z_]+)/i;
const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:from|into|update)\s+(?:"?public"?\.)?"?([a-z_]+)/i;

/** A span with the statement's verb and table, those of its first write where it writes; its text stays out, because a caller may have put a value into it. */
const inStatementSpan = <T>(statement: unknown, run: () => T): T => {
  if (!isTracing()) return run();
  const text = typeof statement === "string" ? statement : ((statement as { text?: string } | undefined)?.text ?? "");
  const [, write, written] = WRITE.exec(text) ?? [];
  const verb = write?.split(" ")[0] ?? VERB.exec(text)?.[1] ?? "query";
  const table = written ?? TABLE.exec(text)?.[1] ?? "";
  return inSpan(
    `sql ${verb.toUpperCase()} ${table}`.trim(),
    { kind: "client", nestedOnly: true, fields: { "db.system.name": "postgresql" } },
    run,
  );
};

/** Connects lazily. Connecting, locks and statements have time limits: see lib/db/limits.ts. */
export const createPool = (url: string, { max, connectTimeoutMs, isPooled = false }: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({
    ...connectionOf(url, SERVICE_LIMITS),
    max,
    connectionTimeoutMillis: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    // Statements that are given without waiting for each other are sent at once.
    pipeline: true,
    Client: isPooled ? UnnamedClient : BoundedClient,
  });
  // Without a listener an idle connection that the server ends would end the process.
  pool.on("error", () => undefined);
  // A query on the pool itself reaches its client with a callback, where no promise shows when it ends.
  const query = pool.query.bind(pool) as (...parts: unknown[]) => unknown;
  pool.query = ((...parts: unknown[]): unknown => inStatementSpan(parts[0], () => query(...parts))) as pg.Pool["query"];
  return pool;
};
