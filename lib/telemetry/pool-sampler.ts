/** Use of the connections to PostgreSQL. */
import { gauge, type Sampler } from "./registry";

const connections = gauge({
  name: "causeway_database_connections",
  help: "Connections of this process to PostgreSQL, by pool and state: used, idle",
  labels: ["pool", "state"],
});
const connectionsMax = gauge({
  name: "causeway_database_connections_max",
  help: "Connections that the pool may open",
  labels: ["pool"],
});
const waiting = gauge({
  name: "causeway_database_connections_waiting",
  help: "Requests and jobs that wait for a connection of the pool",
  labels: ["pool"],
});

/** As a `pg.Pool` has it. */
export interface PoolUse {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
}

/** Reads counters of this process, so that it is never too old. */
export const poolSampler = (pools: Readonly<Record<string, PoolUse>>): Sampler => ({
  freshMs: 0,
  sample: () => {
    for (const [pool, { totalCount, idleCount, waitingCount, options }] of Object.entries(pools)) {
      connections.set({ pool, state: "used" }, totalCount - idleCount);
      connections.set({ pool, state: "idle" }, idleCount);
      connectionsMax.set({ pool }, options.max ?? 0);
      waiting.set({ pool }, waitingCount);
    }
    return Promise.resolve();
  },
});
