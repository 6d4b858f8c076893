/** The database, the clock, the logs, the chains and the secrets of a process. */
import { hostname } from "node:os";
import { createChainRegistry } from "@/lib/chains/registry";
import type { Config } from "@/lib/config/env";
import { createTicker } from "@/lib/core/ticker";
import { createDatabase } from "@/lib/db/client";
import { splitConnections } from "@/lib/db/connections";
import { createDatabaseClock } from "@/lib/db/database-clock";
import { createInstances } from "@/lib/db/instances";
import { createHandover } from "@/lib/modules/jobs/service";
import { createListener } from "@/lib/db/listener";
import { createPool } from "@/lib/db/pool";
import { createRpcBudgetStore } from "@/lib/db/rpc-budget";
import { getLogger, loggedError } from "@/lib/log/logger";
import { createKeyring } from "@/lib/modules/encryption/service";
import { createSecrets } from "@/lib/modules/encryption/application-secret";
import { measureBudgetWait, measureRpc } from "@/lib/telemetry/call-metrics";
import { countDroppedLines } from "@/lib/telemetry/log-metrics";
import type { Overrides } from "./overrides";
import { buildSigningGate } from "./signing";

/** The parts that every other one uses. Nothing connects before it is used. */
export const buildPlatform = (config: Config, overrides: Overrides) => {
  const shares = splitConnections(config.databaseConnectionsMax);
  const { clock, instances, closeInstances } = buildInstances(config, overrides, shares.heartbeat);
  const listener = createListener(config.listenUrl);
  const log = getLogger(config.logLevel);
  countDroppedLines();
  // The fields of an error may hold secrets, so errors have a serializer of their own.
  const errorLog = {
    warn: (fields: object, message: string): void => log.warn(withError(fields), message),
    error: (fields: object, message: string): void => log.error(withError(fields), message),
  };
  const database = createDatabase(config.databaseUrl, {
    poolSize: shares.shared,
    isPooled: config.isDatabasePooled,
    onAnnounced: listener.tell,
  });
  return {
    config,
    overrides,
    shares,
    clock,
    instances,
    closeInstances,
    log,
    errorLog,
    database,
    signing: buildSigningGate(database),
    listener,
    handover: createHandover(),
    ticker: overrides.ticker ?? createTicker(),
    registry:
      overrides.registry ??
      createChainRegistry(config.chains, {
        measureCall: measureRpc,
        measureWait: measureBudgetWait,
        budgetStore: createRpcBudgetStore(database),
      }),
    secrets: createSecrets(config.appSecret, config.appSecretPrevious),
    keyring: createKeyring(config.keyEncryptionKeys),
  };
};

export type Platform = ReturnType<typeof buildPlatform>;

const withError = (fields: object): object => ("err" in fields ? { ...fields, err: loggedError(fields.err) } : fields);

/** This process among those that share the database, and the time by the database's clock. */
const buildInstances = (config: Config, overrides: Overrides, connections: number) => {
  const databaseClock = createDatabaseClock();
  const pool = createPool(config.databaseUrl, { max: connections, isPooled: config.isDatabasePooled });
  const instances = createInstances({ pool, id: newInstanceId(), onTime: databaseClock.measured });
  const closeInstances = async (): Promise<void> => {
    await instances.close();
    await pool.end();
  };
  return { clock: overrides.clock ?? databaseClock, instances, closeInstances };
};

/** Host, process and a part that is new after each start. */
const newInstanceId = (): string => `${hostname()}:${String(process.pid)}:${crypto.randomUUID().slice(0, 8)}`;
