import pg from "pg";
import { inSpan, isTracing } from "@/lib/core/tracing";

/**
 * Limits of one connection, in milliseconds. The server enforces them even when this process is
 * frozen, so that its locks are released soon.
 */
interface SessionLimits {
  /** A transaction without a statement for this time is rolled back, and its connection closed. */
  readonly idleInTransactionMs: number;
  readonly lockMs: number;
  /** Time limit of one statement; 0 means no limit. */
  readonly statementMs: number;
}

/**
 * Limits for requests and jobs. A transaction makes no network call, so a transaction without a
 * statement for seconds belongs to a frozen process. `lockMs` is longer than
 * `idleInTransactionMs`, so a statement that waits for the locks of such a process succeeds.
 */
export const SERVICE_LIMITS: SessionLimits = {
  idleInTransactionMs: 8_000,
  lockMs: 12_000,
  statementMs: 20_000,
};

/**
 * Limits for migrations. A statement has no time limit, because building an index may take hours.
 * Waiting for a lock has a limit.
 */
export const MIGRATION_LIMITS: SessionLimits = {
  idleInTransactionMs: 60_000,
  lockMs: 120_000,
  statementMs: 0,
};

/**
 * TCP keepalive: seconds of silence after which the server probes the other side of a connection.
 */
const KEEPALIVE_IDLE_SECONDS = 10;
/** Seconds between two probes. */
const KEEPALIVE_INTERVAL_SECONDS = 5;
/** Number of unanswered probes after which the server closes the connection. */
const KEEPALIVE_COUNT = 3;
/**
 * Time after which the server closes the connection of a client that does not receive an answer. A
 * client that is frozen while it receives a long answer holds its locks too.
 */
const UNSENT_MS = 10_000;

const settingsOf = ({ idleInTransactionMs, lockMs, statementMs }: SessionLimits): string =>
  Object.entries({
    idle_in_transaction_session_timeout: idleInTransactionMs,
    lock_timeout: lockMs,
    statement_timeout: statementMs,
    tcp_keepalives_idle: KEEPALIVE_IDLE_SECONDS,
    tcp_keepalives_interval: KEEPALIVE_INTERVAL_SECONDS,
    tcp_keepalives_count: KEEPALIVE_COUNT,
    tcp_user_timeout: UNSENT_MS,
    // Turns JIT off, because compiling a statement that looks up 10,000 keys takes 3 s, and
    // running the statement takes 0.1 s.
    jit: "off",
    // Prisma ignores the time zone in which the server returns a time, and always reads it as UTC.
    timezone: "UTC",
  })
    .map(([name, value]) => `-c ${name}=${String(value)}`)
    .join(" ");

/** The name of the connections in `pg_stat_activity`, unless the URL sets another one. */
const APPLICATION = "causeway";

/**
 * Connection parameters with the limits as `options` of the startup packet. They need no statement,
 * and hold for the lifetime of the connection. Settings in the URL's own `options` come later, so
 * they win.
 * PgBouncer does not pass `options` on: configure it to ignore them (`ignore_startup_parameters =
 * options`), and set the same limits for the role (README). `/ready` reports a connection without
 * limits.
 */
export const connectionOf = (url: string, limits: SessionLimits) => {
  const parsed = new URL(url);
  const own = parsed.searchParams.get("options");
  parsed.searchParams.delete("options");
  return {
    connectionString: own === null ? url : parsed.toString(),
    options: own === null ? settingsOf(limits) : `${settingsOf(limits)} ${own}`,
    application_name: APPLICATION,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_IDLE_SECONDS * 1000,
  };
};

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
// Time limit of the client for one query, for a network that loses answers. It is longer than the
// server's limit for one statement.
const QUERY_TIMEOUT_MS = 25_000;
const READ_TIMEOUT = "Query read timeout";

/**
 * A connection whose loss does not end the process. After a query timed out the connection is
 * closed: the server may still execute the query, and the next user's statements would run inside a
 * transaction that was left open.
 */
class BoundedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // The next statement reports a connection that broke between two statements. Without a listener
    // the event would end the process.
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
    // A call with a callback comes from the pool, whose own `query` already has a span.
    const result = typeof parts.at(-1) === "function" ? run() : inStatementSpan(parts[0], run);
    // Calls with a callback come from the pool, which closes failed connections itself.
    if (result instanceof Promise) result.catch(this.#end);
    return result;
  }) as pg.Client["query"];
}

/**
 * Sends every statement without a name, because behind a pooler a name may belong to another
 * client's statement, or be unknown.
 */
class UnnamedClient extends BoundedClient {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const run = this.query as (...parts: unknown[]) => unknown;
    this.query = ((statement: unknown, ...parts: unknown[]): unknown => {
      const isNamed =
        typeof statement === "object" && statement !== null && "name" in statement;
      return run(isNamed ? { ...statement, name: undefined } : statement, ...parts);
    }) as pg.Client["query"];
  }
}

interface PoolOptions {
  readonly max: number;
  readonly connectTimeoutMs?: number;
  /**
   * True when the URL names a pooler that lends connections for one transaction (PgBouncer,
   * `pool_mode = transaction`). No state may remain on a connection between two transactions: no
   * named statement, no SET, no LISTEN, no session advisory lock.
   */
  readonly isPooled?: boolean;
}

// A statement that begins with WITH may write too. Locks (FOR UPDATE) and conflict clauses (DO
// UPDATE) do not count as writes.
const WRITE =
  /(?<!\b(?:for|do|key)\s+)\b(insert into|update|delete from)\s+(?:"?public"?\.)?"?([a-z_]+)/i;
const VERB = /^\s*([a-z]+)/i;
const TABLE = /\b(?:from|into|update)\s+(?:"?public"?\.)?"?([a-z_]+)/i;

/**
 * A span with the verb and table of the statement, or of its first write if it writes. The text is
 * left out, because a caller may have put a value into it.
 */
const inStatementSpan = <T>(statement: unknown, run: () => T): T => {
  if (!isTracing()) return run();
  const text =
    typeof statement === "string"
      ? statement
      : ((statement as { text?: string } | undefined)?.text ?? "");
  const [, write, written] = WRITE.exec(text) ?? [];
  const verb = write?.split(" ")[0] ?? VERB.exec(text)?.[1] ?? "query";
  const table = written ?? TABLE.exec(text)?.[1] ?? "";
  return inSpan(
    `sql ${verb.toUpperCase()} ${table}`.trim(),
    { kind: "client", nestedOnly: true, fields: { "db.system.name": "postgresql" } },
    run,
  );
};

/** Connects lazily. Connecting, locks and statements have time limits. */
export const createPool = (
  url: string,
  { max, connectTimeoutMs, isPooled = false }: PoolOptions,
): pg.Pool => {
  const pool = new pg.Pool({
    ...connectionOf(url, SERVICE_LIMITS),
    max,
    connectionTimeoutMillis: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    // The driver sends each statement immediately, without waiting for the answers to earlier ones.
    pipeline: true,
    Client: isPooled ? UnnamedClient : BoundedClient,
  });
  // Without a listener an idle connection that the server ends would end the process.
  pool.on("error", () => undefined);
  // A query on the pool calls its client with a callback, so no promise shows when it ends.
  const query = pool.query.bind(pool) as (...parts: unknown[]) => unknown;
  pool.query = ((...parts: unknown[]): unknown =>
    inStatementSpan(parts[0], () => query(...parts))) as pg.Pool["query"];
  return pool;
};
