import pg from "pg";
import { connectionOf, SERVICE_LIMITS } from "./limits";

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 25_000; // For a network that swallows answers; above what the server allows itself.
const READ_TIMEOUT = "Query read timeout";

/**
 * A connection that breaks quietly. One on which a query was given up is ended: the server may still be at work on it, and a transaction that nobody ended
 * would take in the statements of the next one to use it.
 */
class BoundedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Of a connection that breaks between two statements the next one tells. Without a listener it would end the process.
    this.on("error", () => undefined);
  }

  readonly #end = (error: unknown): void => {
    if (!(error instanceof Error) || error.message !== READ_TIMEOUT) return;
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  };

  // The driver's own type has seven overloads; whatever comes is passed on.
  override query = ((...parts: unknown[]): unknown => {
    const result: unknown = Reflect.apply(pg.Client.prototype.query, this, parts);
    // With a callback it is the pool that asks, which ends connections that fail.
    if (result instanceof Promise) result.catch(this.#end);
    return result;
  }) as pg.Client["query"];
}

/** Connects lazily. Nothing that goes over it may last: connections, locks and statements have their limits. */
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
