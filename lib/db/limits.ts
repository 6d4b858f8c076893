/**
 * Limits of one connection, in milliseconds. The server enforces them even when this process is frozen, so that its
 * locks are released soon.
 */
export interface SessionLimits {
  /** A transaction without a statement for this time is rolled back, and its connection closed. */
  readonly idleInTransactionMs: number;
  readonly lockMs: number;
  /** 0 is no limit. */
  readonly statementMs: number;
}

/**
 * For requests and jobs. A transaction makes no network call, so one that is silent for seconds belongs to a process that is frozen.
 * `lockMs` is longer than `idleInTransactionMs`, so a statement that waits for the locks of such a process succeeds.
 */
export const SERVICE_LIMITS: SessionLimits = { idleInTransactionMs: 8_000, lockMs: 12_000, statementMs: 20_000 };

/** For migrations: building an index may take hours. They wait for locks, but not without a limit. */
export const MIGRATION_LIMITS: SessionLimits = { idleInTransactionMs: 60_000, lockMs: 120_000, statementMs: 0 };

/** A peer that does not answer is given up after 10 s of silence and three probes, 5 s apart. */
const KEEPALIVE_IDLE_SECONDS = 10;
const KEEPALIVE_INTERVAL_SECONDS = 5;
const KEEPALIVE_COUNT = 3;
/** A client that is frozen while it receives a long answer holds its locks too; the server gives it up after this time. */
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
  })
    .map(([name, value]) => `-c ${name}=${String(value)}`)
    .join(" ");

/** The name of the connections in `pg_stat_activity`, unless the URL has another one. */
const APPLICATION = "causeway";

/**
 * Connection parameters with the limits as `options` of the startup packet: no statement is needed for them, and they hold however
 * long the connection lives. Settings in the URL's own `options` come later, so they win.
 *
 * PgBouncer does not pass `options` on: let it ignore them (`ignore_startup_parameters = options`), and set the same limits for the
 * role (README). `/ready` says when a connection has none.
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
