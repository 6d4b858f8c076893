import { createPool } from "@/lib/db/pool";
import { createReplica, writtenUpTo } from "@/lib/db/replica";
import type { Config } from "@/lib/config/env";
import type { HttpReplica } from "@/lib/http/services";
import { observedReplica } from "@/lib/telemetry/replica-metrics";
import type { Platform } from "./platform";

/** Of one process to the replica: one asks how far it is, six are the least that services need. */
const CONNECTIONS_MAX = 10;

interface Reads {
  readonly reads: object;
  close(): Promise<void>;
}

interface BuiltReplica {
  readonly replica: HttpReplica | null;
  close(): Promise<void>;
}

/**
 * The services that answer from `DATABASE_REPLICA_URL`; null without one. A replica refuses every write, so nothing can be changed over it.
 * @param build makes services on another database
 */
export const buildReplica = (
  { config, database }: Pick<Platform, "config" | "database">,
  build: (config: Config) => Reads,
): BuiltReplica => {
  const url = config.databaseReplicaUrl;
  if (url === null) return { replica: null, close: () => Promise.resolve() };
  const pool = createPool(url, { max: 1 });
  const { has } = observedReplica(createReplica({ pool }));
  const own = { databaseUrl: url, databaseReplicaUrl: null, isDatabasePooled: false, listenUrl: null };
  const { reads, close } = build({ ...config, ...own, databaseConnectionsMax: CONNECTIONS_MAX });
  return {
    replica: { has, reads, writtenUpTo: () => writtenUpTo(database.pool) },
    close: async () => {
      await close();
      await pool.end();
    },
  };
};
