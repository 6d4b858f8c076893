import type { Prover } from "@/lib/adapters/privacy-pools/prover";
import { type ChainRegistry, createChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { createTicker, type Ticker } from "@/lib/core/ticker";
import type { Bundler } from "@/lib/chain/ports/bundler";
import type { Mailer } from "@/lib/platform/ports/mail";
import type { PriceOracle } from "@/lib/books/ports/price-oracle";
import type { PrivacyEngine } from "@/lib/money/ports/privacy";
import type { RoutingProvider } from "@/lib/money/ports/routing";
import type { ScreeningSource } from "@/lib/trust/ports/screening";
import type { WebhookSender } from "@/lib/money/ports/webhook-sender";
import { hostname } from "node:os";
import type { Config } from "@/lib/platform/config/env";
import { createDatabase } from "@/lib/platform/db/client";
import { splitConnections } from "@/lib/platform/db/connections";
import { createDatabaseClock, createInstances } from "@/lib/platform/db/instances";
import { createHandover } from "@/lib/platform/jobs/service";
import { createListener } from "@/lib/platform/db/listener";
import { createPool } from "@/lib/platform/db/pool";
import { createRpcBudgetStore } from "@/lib/platform/db/rate-window";
import { getLogger, loggedError } from "@/lib/platform/log/logger";
import { createKeyring } from "@/lib/platform/encryption/service";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { measureBudgetWait, measureRpc } from "@/lib/composition/metrics/call-metrics";
import { countDroppedLines } from "@/lib/composition/metrics/metrics";
import { buildSigningGate } from "./signing";

export interface Overrides {
  clock?: Clock;
  registry?: ChainRegistry;
  routing?: readonly RoutingProvider[];
  priceOracle?: PriceOracle;
  bundler?: Bundler;
  prover?: Prover;
  privacyEngine?: PrivacyEngine;
  mailer?: Mailer;
  ticker?: Ticker;
  webhookSender?: WebhookSender;
  screening?: readonly ScreeningSource[];
}

/** Builds the parts that all services share. Connections are opened at their first use. */
export const buildPlatform = (config: Config, overrides: Overrides) => {
  const shares = splitConnections(config.databaseConnectionsMax);
  const { clock, instances, closeInstances } = buildInstances(
    config,
    overrides,
    shares.heartbeat,
  );
  const listener = createListener(config.listenUrl);
  const log = getLogger(config.logLevel);
  countDroppedLines();
  // The fields of an error may contain secrets, so errors have a separate serializer.
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

const withError = (fields: object): object =>
  "err" in fields ? { ...fields, err: loggedError(fields.err) } : fields;

/**
 * Adds this process to the list of processes that share the database, and creates the clock that
 * follows the database's clock.
 */
const buildInstances = (config: Config, overrides: Overrides, connections: number) => {
  const databaseClock = createDatabaseClock();
  const pool = createPool(config.databaseUrl, {
    max: connections,
    isPooled: config.isDatabasePooled,
  });
  const instances = createInstances({
    pool,
    id: newInstanceId(),
    onTime: databaseClock.measured,
  });
  const closeInstances = async (): Promise<void> => {
    await instances.close();
    await pool.end();
  };
  return { clock: overrides.clock ?? databaseClock, instances, closeInstances };
};

const newInstanceId = (): string =>
  `${hostname()}:${String(process.pid)}:${crypto.randomUUID().slice(0, 8)}`;
