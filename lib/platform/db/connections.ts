/**
 * Every pool of a process, its size, and the reason why it is separate. Nothing else in the
 * process opens connections; scripts and migrations run in separate processes. docs/operations.md
 * says how many connections PostgreSQL must allow for n processes.
 */
export interface ConnectionShares {
  /**
   * LISTEN (lib/platform/db/listener.ts): notifications arrive on the connection that subscribed, so it is
   * never used for other statements.
   */
  readonly listener: number;
  /**
   * The heartbeat (lib/platform/db/instances.ts): when a process misses five beats, others take over its
   * work, so beats must not wait behind requests.
   */
  readonly heartbeat: number;
  /**
   * The queries of `/api/ready`, which must answer when every other connection is busy. They may be
   * slow, unlike the heartbeat's.
   */
  readonly readiness: number;
  /**
   * The ledger (lib/books/ledger): its connections use a database role that may not change or
   * delete entries.
   */
  readonly ledger: number;
  /**
   * Events and their deliveries, so that a backlog delays no request. In a small process the value
   * is 0, and events and deliveries use the shared connections.
   */
  readonly webhooks: number;
  /** Requests and jobs: Prisma and raw statements share one pool. */
  readonly shared: number;
}

const LEDGER_SHARE = 3;
/**
 * Number of connections from which a process has separate ones for webhooks. A smaller process has
 * none to spare.
 */
const WEBHOOKS_FROM = 10;

/**
 * Splits the connections of a process (DATABASE_CONNECTIONS_MAX). One listens, one is for the
 * heartbeat, one for readiness, and two are for webhooks (if there are 10 or more). A third of the
 * rest is for the ledger, and all others serve requests and jobs.
 *
 * @param max at least 6
 * @example splitConnections(20) // { listener: 1, heartbeat: 1, readiness: 1, webhooks: 2, ledger:
 * 5, shared: 10 }
 */
export const splitConnections = (max: number): ConnectionShares => {
  const webhooks = max < WEBHOOKS_FROM ? 0 : 2;
  const rest = max - 3 - webhooks;
  const ledger = Math.max(1, Math.floor(rest / LEDGER_SHARE));
  return { listener: 1, heartbeat: 1, readiness: 1, webhooks, ledger, shared: rest - ledger };
};
