import { createPool } from "@/lib/platform/db/pool";
import { createReplica, readReplicaLag, writtenUpTo } from "@/lib/platform/db/replica";
import type { Config } from "@/lib/platform/config/env";
import { observedReplica } from "@/lib/composition/metrics/metrics";
import { replicaSampler } from "@/lib/composition/metrics/upkeep-samplers";
import type { Sampler } from "@/lib/platform/telemetry/registry";
import type { Platform } from "./platform";

export interface HttpReplica {
  /**
   * Whether the replica is close to the primary and includes this position. Never throws.
   * @param place the result of `writtenUpTo`; null when the caller wrote nothing
   */
  has(place: string | null): Promise<boolean>;
  readonly reads: object;
  /**
   * The log position up to which the primary has written.
   * @throws when the database does not answer
   */
  writtenUpTo(): Promise<string>;
}

/**
 * Maximum number of connections of one process to the replica. One connection reads the replica's
 * position, and the services need at least six.
 */
const CONNECTIONS_MAX = 10;

interface Reads {
  readonly reads: object;
  close(): Promise<void>;
}

interface BuiltReplica {
  readonly replica: HttpReplica | null;
  /** Samplers of the replica; empty without one. */
  readonly samplers: Readonly<Record<string, Sampler>>;
  close(): Promise<void>;
}

/**
 * The services on `DATABASE_REPLICA_URL`; null when it is not set. A replica refuses every write,
 * so nothing can be changed through it.
 * @param build creates services on another database
 */
export const buildReplica = (
  { config, database, clock }: Pick<Platform, "config" | "database" | "clock">,
  build: (config: Config) => Reads,
): BuiltReplica => {
  const url = config.databaseReplicaUrl;
  if (url === null) return { replica: null, samplers: {}, close: () => Promise.resolve() };
  const pool = createPool(url, { max: 1 });
  const { has } = observedReplica(createReplica({ pool }));
  const own = {
    databaseUrl: url,
    databaseReplicaUrl: null,
    isDatabasePooled: false,
    listenUrl: null,
  };
  const { reads, close } = build({
    ...config,
    ...own,
    databaseConnectionsMax: CONNECTIONS_MAX,
  });
  return {
    replica: { has, reads, writtenUpTo: () => writtenUpTo(database.pool) },
    samplers: { replica: replicaSampler({ readLag: () => readReplicaLag(pool), clock }) },
    close: async () => {
      await close();
      await pool.end();
    },
  };
};
