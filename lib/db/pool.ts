import pg from "pg";
import { connectionOf, SERVICE_LIMITS } from "./limits";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 25_000; // For a network that swallows answers; above what the server allows itself.
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
    const result: unknown = Reflect.apply(pg.Client.prototype.query, this, parts);
    // Calls with a callback come from the pool, which closes failed connections itself.
    if (result instanceof Promise) result.catch(this.#end);
    return result;
  }) as pg.Client["query"];
}

/** Connects lazily. Connecting, locks and statements have time limits: see lib/db/limits.ts. */
export const createPool = (url: string, max: number, connectTimeoutMs = CONNECT_TIMEOUT_MS): pg.Pool => {
  const pool = new pg.Pool({
    ...connectionOf(url, SERVICE_LIMITS),
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    Client: BoundedClient,
  });
  // Without a listener an idle connection that the server ends would end the process.
  pool.on("error", () => undefined);
  return pool;
};
