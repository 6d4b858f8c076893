/** How many connections each part of a process may open. */
export interface ConnectionShares {
  /** LISTEN. */
  readonly listener: number;
  /** Says that the process is alive: it must get through when all others are busy. */
  readonly heartbeat: number;
  /** The questions of `/ready`, for the same reason. */
  readonly readiness: number;
  readonly ledger: number;
  /** Requests and jobs. */
  readonly shared: number;
}

const LEDGER_SHARE = 3;

/**
 * Splits the connections of a process: one listens, one is the heartbeat's, one is for readiness, a third of the rest is the ledger's,
 * and all others serve requests and jobs.
 *
 * @example splitConnections(20) // { listener: 1, heartbeat: 1, readiness: 1, ledger: 5, shared: 12 }
 */
export const splitConnections = (max: number): ConnectionShares => {
  const rest = max - 3;
  const ledger = Math.max(1, Math.floor(rest / LEDGER_SHARE));
  return { listener: 1, heartbeat: 1, readiness: 1, ledger, shared: rest - ledger };
};
