import { distributorFaults } from "@/lib/chains/distributor-code";
import type { ChainRegistry } from "@/lib/chains/registry";
import { loadConfig, type Config } from "@/lib/config/env";
import { sqlOn } from "@/lib/db/sql";
import type { Database } from "@/lib/db/client";
import { createIdempotencyKeyStore } from "@/lib/db/idempotency-keys";
import { createLiveClaims } from "@/lib/db/live-claims";
import { createRateWindowStore } from "@/lib/db/rate-window";
import { sweepExpired, sweepWhenDue } from "@/lib/db/sweep";
import { createFaucet } from "@/lib/devnet/faucet";
import { createMetrics } from "@/lib/http/metric-registry";
import { encryptedTokenKeys } from "@/lib/modules/auth/token-key-repository";
import { requireKeys } from "@/lib/modules/encryption/rotation";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { createAuditService } from "@/lib/modules/audit/service";
import { createBalanceHistory } from "@/lib/modules/balances/history";
import { createSnapshotRepository } from "@/lib/modules/balances/repository";
import { createBalancesService } from "@/lib/modules/balances/service";
import { createEventsService } from "@/lib/modules/events/service";
import { createGlobalAccountsService } from "@/lib/modules/global-accounts/service";
import { createJobsRepository } from "@/lib/modules/jobs/repository";
import { createPayouts } from "@/lib/modules/payouts/wiring";
import { encryptedPrivacyWallets } from "@/lib/modules/privacy/service";
import { encryptedManagedKeys } from "@/lib/modules/wallets/managed-key-repository";
import { encryptedWebhookSecrets } from "@/lib/modules/webhooks/secret-repository";
import type { Faucet } from "@/lib/ports/devnet";
import type { Overrides } from "./composition/overrides";
import { buildPlatform } from "./composition/platform";
import { buildChainAccess } from "./composition/chain-access";
import { buildIdentity } from "./composition/identity";
import { buildMoney } from "./composition/money";
import { buildDrivers } from "./composition/drivers";
import { buildPrivacy } from "./composition/privacy";
import { buildWebhooks } from "./composition/webhooks";
import { buildReadiness } from "./composition/readiness";

export type { Overrides };

/** Builds every service from the configuration. Nothing connects before it is used. */
export const createServices = (config: Config, overrides: Overrides = {}) => {
  const platform = buildPlatform(config, overrides);
  const { clock, instances, log, errorLog, database, listener, ticker, registry, keyring } = platform;
  const chainAccess = buildChainAccess(platform);
  const { wallets, transactions } = chainAccess;
  const identity = buildIdentity(platform, chainAccess);
  const { auth, projects, approvals, apiKeys, policies, otp, contacts } = identity;
  // Read when a leg is carried out, which is long after all of this is built.
  const money = buildMoney(platform, chainAccess, identity, (exit, signal) => privacy.service.exitCalls(exit, signal));
  const { ledger, assets, reserves, sponsorship, operations, quotes, prices } = money;
  const { operationDriver, batchDriver } = buildDrivers(platform, chainAccess, money);
  const privacy = buildPrivacy(platform, chainAccess, identity, money);
  const { webhooks, webhookReceiver, callbacks, sending } = buildWebhooks(platform, identity);
  const { readiness, closeReadiness } = buildReadiness(platform, identity.mailer);
  const { payouts, payoutRunner, payoutSchedules, scheduleRuns } = createPayouts({
    ...money,
    database,
    registry,
    wallets,
    contacts,
    projects,
    policies,
    otp,
    clock,
    walletBatches: batchDriver,
    log: errorLog,
  });
  return {
    config,
    clock,
    log,
    errorLog,
    database,
    listener,
    ticker,
    streams: money.streams,
    registry,
    audit: createAuditService({ database }),
    auth,
    projects,
    approvals,
    apiKeys,
    policies,
    projectPolicies: identity.projectPolicies,
    mailOutbox: identity.mailOutbox,
    sponsorship,
    wallets,
    walletLinks: identity.walletLinks,
    contacts,
    callbacks,
    events: createEventsService({ reader: sqlOn(database.pool) }),
    webhooks,
    /** Null in production. */
    webhookReceiver,
    /** Numbers events and delivers them, beside any number of other instances. */
    startWebhooks: sending.start,
    metrics: createMetrics({ samplers: { webhooks: sending.sampler }, log: errorLog }),
    otp,
    quotes,
    swaps: money.swaps,
    transfers: money.transfers,
    operations,
    operationDriver,
    batchDriver,
    /** Chains on which no payout to wallets is signed, and why. */
    distributorFaults: () => distributorFaults(registry),
    balances: createBalancesService({
      registry,
      wallets,
      prices,
      history: createBalanceHistory({ snapshots: createSnapshotRepository(database), clock, log: errorLog }),
      clock,
    }),
    prices,
    ledger,
    reserves,
    globalAccounts: createGlobalAccountsService({ ledger, reserves, assets, clock }),
    payouts,
    payoutRunner,
    payoutSchedules,
    /** Makes the payouts of schedules that are due. */
    runDueSchedules: scheduleRuns.runDue,
    transactions,
    privacy: privacy.service,
    privacyRunner: privacy.runner,
    exportPrivacyWallet: privacy.exportWallet,
    jobs: createJobsRepository(database),
    faucet: buildFaucet(config, registry),
    inbox: identity.inbox,
    instances,
    idempotencyStore: createLiveClaims({ database, store: createIdempotencyKeyStore(database), instances }),
    rateStore: createRateWindowStore(database),
    readiness,
    sweep: () => sweepExpired(database),
    /** The same, unless another instance has swept within `everyMs`. */
    sweepWhenDue: (everyMs: number) => sweepWhenDue(database, everyMs),
    /** @throws MissingKeysError when the database needs a key-encryption key that is not configured */
    requireKeys: () => requireKeys(keyring, encryptedTablesOf(database)),
    /** Ends what waited for approval, or held money, for too long. */
    expireDue: async (): Promise<void> => {
      const now = clock.now();
      await Promise.all([operations.expireDue(), payouts.expireDue(now), ledger.expireHolds(now)]);
    },
    close: async (): Promise<void> => {
      identity.closeMail();
      privacy.close();
      await platform.closeInstances();
      await closeReadiness();
      await listener.close();
      await ledger.close();
      await sending.close();
      await database.close();
    },
  };
};

/** Every table with values under key-encryption keys. */
export const encryptedTablesOf = (database: Database): readonly EncryptedRows[] => [
  encryptedTokenKeys(database),
  encryptedManagedKeys(database),
  encryptedWebhookSecrets(database),
  encryptedPrivacyWallets(database),
];

export type Services = ReturnType<typeof createServices>;

const buildFaucet = (config: Config, registry: ChainRegistry): Faucet | null =>
  config.devnet ? createFaucet({ registry }) : null;

// The server's bundle and Next's bundle each have a copy of this module; the registered symbol makes them share one set.
const SERVICES = Symbol.for("causeway.services");
const shared = globalThis as { [SERVICES]?: Services };

export const setServices = (services: Services): void => {
  shared[SERVICES] = services;
};

/** The services of this process; made from the environment where nobody has set them (plain `next start` and `next dev`). */
export const getServices = (): Services => (shared[SERVICES] ??= createOwnServices());

const createOwnServices = (): Services => {
  const services = createServices(loadConfig());
  // It goes on trying, and until then the time is this machine's.
  services.instances.start().catch(() => undefined);
  return services;
};
