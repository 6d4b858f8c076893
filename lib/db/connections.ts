/** How many connections each part of a process may open. */
export interface ConnectionShares {
  /** LISTEN. */
  readonly listener: number;
  /** Says that the process is alive: it must get through when all others are busy. */
  readonly heartbeat: number;
  /** The questions of `/ready`, for the same reason. */
  readonly readiness: number;
  readonly ledger: number;
  /** Events and their deliveries, so that slow receivers delay nothing else. 0: too few are left, and they use those of requests. */
  readonly webhooks: number;
  /** Requests and jobs. */
  readonly shared: number;
}

const LEDGER_SHARE = 3;
/** A process with fewer connections has none to spare for webhooks. */
const WEBHOOKS_FROM = 10;

/**
 * Splits the connections of a process: one listens, one is the heartbeat's, one is for readiness, two are for webhooks (where there are
 * 10 or more), a third of the rest is the ledger's, and all others serve requests and jobs.
 *
 * @example splitConnections(20) // { listener: 1, heartbeat: 1, readiness: 1, webhooks: 2, ledger: 5, shared: 10 }
 */
export const splitConnections = (max: number): ConnectionShares => {
  const webhooks = max < WEBHOOKS_FROM ? 0 : 2;
  const rest = max - 3 - webhooks;
  const ledger = Math.max(1, Math.floor(rest / LEDGER_SHARE));
  return { listener: 1, heartbeat: 1, readiness: 1, webhooks, ledger, shared: rest - ledger };
};
