import pg from "pg";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 20_000;
const QUERY_TIMEOUT_MS = 25_000; // For a network that swallows answers; above what the server allows itself.
const IDLE_IN_TRANSACTION_MS = 30_000; // An instance that hangs must not keep its locks.

/** Connects lazily. Nothing that goes over it may last: connections, locks and statements have their limits. */
export const createPool = (url: string, max: number, connectTimeoutMs = CONNECT_TIMEOUT_MS): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
  });
  // Without a listener an idle connection that the server ends would end the process.
  pool.on("error", () => undefined);
  return pool;
};
