import { poolPlaces } from "@/lib/chain/privacy-pools";
import { createBalanceReader } from "@/lib/chain/balance-reader";
import { distributorFaults } from "@/lib/chain/distributor";
import type { ChainRegistry } from "@/lib/chain/registry";
import { loadConfig, type Config } from "@/lib/platform/config/env";
import { permissionGuard } from "@/lib/core/permissions";
import { tracedService } from "@/lib/core/tracing";
import { sqlOn } from "@/lib/platform/db/sql";
import type { Database } from "@/lib/platform/db/client";
import { createIdempotencyKeyStore } from "@/lib/platform/db/idempotency-keys";
import { createLiveClaims } from "@/lib/platform/db/live-claims";
import { createRateWindowStore } from "@/lib/platform/db/rate-window";
import { runAlone } from "@/lib/platform/db/periodic-tasks";
import { sweepExpired, sweepWhenDue } from "@/lib/platform/db/sweep";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { encryptedTokenKeys } from "@/lib/trust/auth/repository";
import { requireKeys } from "@/lib/platform/encryption/rotation";
import type { EncryptedRows } from "@/lib/platform/encryption/service";
import { createAuditLinker } from "@/lib/news/audit/linker";
import { createAuditService } from "@/lib/news/audit/service";
import { createBalanceHistory } from "@/lib/books/balances/history";
import { createSnapshotRepository } from "@/lib/books/balances/repository";
import { createBalancesService } from "@/lib/books/balances/service";
import { createEventsService } from "@/lib/news/events/service";
import { movingFunds } from "@/lib/books/holds/service";
import { arrivalsOf } from "@/lib/money/operations/service";
import { EXPORT_SUBJECT } from "@/lib/money/privacy/export-wallet";
import { createJobsRepository } from "@/lib/platform/jobs/repository";
import { createParkedJobs } from "@/lib/news/parked-jobs/service";
import { createPayouts } from "@/lib/money/payouts/wiring";
import { encryptedTotpSecrets } from "@/lib/trust/proofs/repository";
import { encryptedPrivacyWallets } from "@/lib/money/privacy/service";
import { encryptedManagedKeys } from "@/lib/trust/wallets/repository";
import { encryptedChannelAddresses } from "@/lib/money/notifications/service";
import { encryptedWebhookSecrets } from "@/lib/money/webhooks/secret-repository";
import type { Faucet } from "@/lib/money/ports/devnet";
import type { Routing } from "@/lib/money/ports/routing";
import * as rights from "./composition/caller-rights";
import { createProjectBudgets } from "@/lib/books/sponsorship/project-budgets";
import { buildPlatform, type Overrides, type Platform } from "./composition/platform";
import { buildChanges } from "./composition/changes";
import type { ChainAccess } from "./composition/chain-access";
import { buildAuditAnchoring } from "./composition/audit-anchoring";
import { buildActivity } from "./composition/activity";
import { buildAnnotations } from "./composition/annotations";
import { buildAuthorize } from "./composition/authorize";
import { buildExports } from "./composition/exports";
import { buildGlobalAccounts } from "./composition/global-accounts";
import { buildIdentity, type Identity } from "./composition/identity";
import { buildMoney, type Money } from "./composition/money";
import { buildDeposits } from "./composition/deposits";
import { buildDrivers, type Drivers } from "./composition/drivers";
import { buildChannels, buildNotifying, buildPush } from "./composition/notifications";
import { buildPrivacy } from "./composition/privacy";
import { buildCheckedAccess } from "./composition/routing";
import { buildWebhooks } from "./composition/webhooks";
import { buildReplica } from "./composition/replica";
import { buildReconcile } from "./composition/reconcile";
import { buildProjectInbox } from "./composition/inbox";
import { buildReporting } from "./composition/reporting";
import { buildReadiness } from "./composition/readiness";
import { observedFacts } from "./composition/metrics/chain-facts";
import { checkStart } from "./composition/start-checks";
import { buildTelemetry } from "./composition/telemetry";

export type { Overrides };

/** Builds every service from the configuration. Nothing connects before its first use. */
export const createServices = (config: Config, overrides: Overrides = {}) => {
  const platform = buildPlatform(config, overrides);
  const chainAccess = buildCheckedAccess(platform);
  // The callback runs when a request for votes was decided, long after payouts and swaps are built.
  const identity = buildIdentity(platform, chainAccess, () => ({
    payout: payouts.payouts.subject,
    operation: {
      ...money.swaps.subject,
      onDecided: (decided) =>
        (decided.request.private ? privacy.service.subject : money.swaps.subject).onDecided(
          decided,
        ),
    },
    [EXPORT_SUBJECT]: privacy.exportWallet.subject,
  }));
  // The callback runs when a leg is executed, long after `privacy` is built.
  const money = buildMoney(platform, chainAccess, identity, (exit, signal) =>
    privacy.service.exitCalls(exit, signal),
  );
  const drivers = buildDrivers(platform, chainAccess, money);
  const privacy = buildPrivacy(platform, chainAccess, identity, money);
  const webhooks = buildWebhooks(platform, identity);
  const replicated = buildReplica(platform, (own) => readServices(own, platform.registry));
  const telemetry = buildTelemetry(platform, {
    money,
    samplers: { ...replicated.samplers, webhooks: webhooks.sending.sampler },
    providerContracts: chainAccess.routing.contracts,
  });
  const { readiness, closeReadiness } = buildReadiness(platform, identity.mailer);
  const deposits = buildDeposits(platform, identity, money);
  const shared = { platform, chainAccess, identity, money };
  const { payoutActivity, ...payouts } = buildPayouts({ ...shared, drivers });
  const parts = sharedParts(platform, chainAccess.routing);
  const holdings = moneyServices(shared);
  const activity = buildActivity(platform, money, {
    deposits,
    payouts: payoutActivity,
    privacy: privacy.service,
  });
  return {
    ...parts,
    changes: buildChanges(platform, holdings.balances),
    projectInbox: buildProjectInbox(platform, identity, money, {
      payouts: payouts.payouts,
      schedules: payouts.payoutSchedules,
      deposits,
      privacy: privacy.service,
      parkedJobs: parts.parkedJobs,
    }),
    ...identityServices(identity),
    ...holdings,
    authorize: buildAuthorize(identity, {
      swaps: money.swaps,
      ...payouts,
      privacy: privacy.service,
    }),
    projectBudgets: createProjectBudgets({ ...platform, ...money, ...identity }),
    ...drivers,
    ...payouts,
    anchorAudit: buildAuditAnchoring(platform, chainAccess),
    activity,
    reporting: buildReporting(platform),
    ...buildExports(platform, identity, {
      activity,
      deposits,
      operations: money.operations,
      payouts: payouts.payouts,
      globalAccounts: holdings.globalAccounts,
    }),
    deposits: tracedService("deposits", permissionGuard(deposits, rights.DEPOSITS)),
    annotations: permissionGuard(
      buildAnnotations(platform, { ...money, ...payouts }),
      rights.ANNOTATIONS,
    ),
    privacy: tracedService("privacy", guardedPrivacy(privacy)),
    privacyRunner: privacy.runner,
    exportPrivacyWallet: privacy.exportWallet.run,
    poolPlaces: (chainId: number) => poolPlaces(platform.registry, chainId),
    callbacks: webhooks.callbacks,
    webhooks: webhooks.webhooks,
    webhookReceiver: webhooks.webhookReceiver,
    /** Numbers events and delivers them. Other instances may do so at the same time. */
    startWebhooks: webhooks.sending.start,
    ...telemetry,
    notifying: buildNotifying(platform, identity, money, payouts.payouts),
    ...buildChannels(platform, identity, webhooks.webhookSender),
    ...buildPush(platform, webhooks.webhookSender),
    readiness,
    reconciliation: buildReconcile(platform, money),
    replica: replicated.replica,
    /** Ends everything that was not approved in time. */
    expireDue: async (): Promise<void> => {
      await Promise.all([
        money.operations.expireDue(),
        payouts.payouts.expireDue(platform.clock.now()),
      ]);
    },
    close: async (): Promise<void> => {
      identity.closeMail();
      privacy.close();
      await identity.apiRequests.close();
      await platform.closeInstances();
      await closeReadiness();
      await replicated.close();
      await platform.listener.close();
      await money.ledger.close();
      await webhooks.sending.close();
      await platform.database.close();
    },
  };
};

const guardedPrivacy = ({ service }: Pick<ReturnType<typeof buildPrivacy>, "service">) => ({
  ...permissionGuard(service, rights.PRIVACY),
  wallets: permissionGuard(service.wallets, rights.PRIVATE_WALLETS),
});

/** Shared parts of the process, and maintenance of the database. */
const sharedParts = (
  {
    config,
    clock,
    log,
    errorLog,
    database,
    listener,
    handover,
    ticker,
    registry,
    instances,
    keyring,
    secrets,
    signing,
  }: Platform,
  routing: Pick<Routing, "contracts">,
) => ({
  config,
  clock,
  log,
  errorLog,
  database,
  listener,
  /** Passes jobs that this process stores directly to its worker. */
  handover,
  ticker,
  registry,
  instances,
  /** Decides whether the service may sign for money with this database. */
  signing,
  audit: createAuditService({ database }),
  auditLinker: createAuditLinker({ database, secrets, clock }),
  events: createEventsService({ reader: sqlOn(database.pool) }),
  jobs: createJobsRepository(database),
  parkedJobs: createParkedJobs({ database, clock }),
  idempotencyStore: createLiveClaims({
    database,
    store: createIdempotencyKeyStore(database, {
      keepHours: config.retention.idempotencyKeysHours,
    }),
    instances,
  }),
  rateStore: createRateWindowStore(database),
  faucet: buildFaucet(config, registry),
  sweep: () => sweepExpired(database, config.retention),
  /** Sweeps unless another instance has done so within `everyMs`. */
  sweepWhenDue: (everyMs: number, signal?: AbortSignal) =>
    sweepWhenDue(
      database,
      config.retention,
      signal === undefined ? { everyMs } : { everyMs, signal },
    ),
  /** Runs `work` unless another instance runs it, or ran it less than `everyMs` ago. */
  runAlone: (
    task: { name: string; everyMs: number; leaseMs: number },
    work: () => Promise<unknown>,
  ) => runAlone(database, task, work),
  checkStart: () => checkStart(config, database, routing.contracts),
  measureChains: () => observedFacts(registry),
  /**
   * @throws MissingKeysError when the database needs a key-encryption key that is not configured
   */
  requireKeys: () => requireKeys(keyring, encryptedTablesOf(database)),
});

const identityServices = (identity: Identity) => ({
  auth: identity.auth,
  sessionMade: identity.sessionMade,
  projects: identity.projects,
  approvals: identity.approvals,
  decisions: identity.decisions,
  decisionRunner: identity.decisionRunner,
  contactDigest: identity.contactDigest,
  votingPolicy: identity.votingPolicy,
  apiKeys: identity.apiKeys,
  apiRequests: identity.apiRequests,
  policies: identity.policies,
  projectPolicies: identity.projectPolicies,
  mailOutbox: identity.mailOutbox,
  walletLinks: identity.walletLinks,
  contacts: permissionGuard(identity.contacts, rights.CONTACTS),
  members: identity.members,
  newProjects: identity.newProjects,
  notifications: identity.notifications,
  otp: identity.otp,
  factors: identity.factors,
  inbox: identity.inbox,
});

/**
 * Services on a replica of the database. `reads` has no exact type, because the type of
 * `createServices` depends on it.
 */
const readServices = (
  config: Config,
  registry: ChainRegistry,
): { reads: object; close(): Promise<void> } => {
  const reads = createServices(config, { registry });
  return { reads, close: reads.close };
};

interface MoneyParts {
  readonly platform: Platform;
  readonly chainAccess: ChainAccess;
  readonly money: Money;
}

const moneyServices = ({
  platform: { registry, database, clock, errorLog },
  chainAccess,
  money,
  identity,
}: MoneyParts & { readonly identity: Identity }) => ({
  wallets: permissionGuard(chainAccess.wallets, rights.WALLETS),
  transactions: chainAccess.transactions,
  quotes: tracedService("quotes", permissionGuard(money.quotes, rights.QUOTES)),
  swaps: tracedService("swaps", permissionGuard(money.swaps, rights.SWAPS)),
  transfers: tracedService("transfers", permissionGuard(money.transfers, rights.TRANSFERS)),
  operations: tracedService("operations", permissionGuard(money.operations, rights.OPERATIONS)),
  streams: money.streams,
  prices: money.prices,
  policyEngine: money.policyEngine,
  recipients: money.recipients,
  screening: money.screening,
  policyDocuments: money.policyDocuments,
  ledger: money.ledger,
  reserves: money.reserves,
  sponsorship: money.sponsorship,
  balances: createBalancesService({
    registry,
    reader: createBalanceReader(registry),
    wallets: chainAccess.wallets,
    moves: {
      out: (projectId, at) =>
        movingFunds(sqlOn(database.pool), { projectId, at, now: clock.now() }),
      in: (projectId, at) => arrivalsOf(sqlOn(database.pool), projectId, at),
    },
    backings: money.reserves.backings,
    prices: money.prices,
    history: createBalanceHistory({
      snapshots: createSnapshotRepository(database),
      clock,
      log: errorLog,
    }),
    clock,
  }),
  ...buildGlobalAccounts({ database, clock }, money, identity),
  /** Chains on which no payout to wallets is signed, with the reason. */
  distributorFaults: () => distributorFaults(registry),
});

const buildPayouts = ({
  platform: { database, registry, clock, errorLog: log, signing: lostMoves },
  chainAccess: { wallets, freezes },
  identity: { projects, policies, decisions, approvals, sessionMade },
  money,
  drivers,
}: MoneyParts & { readonly identity: Identity; readonly drivers: Drivers }) => {
  const { payouts, payoutActivity, payoutRunner, payoutSchedules, scheduleRuns } =
    createPayouts({
      ...money,
      database,
      registry,
      clock,
      log,
      lostMoves,
      wallets,
      projects,
      policies,
      decisions,
      approvals,
      sessionMade,
      freezes,
      walletBatches: drivers.batchDriver,
    });
  return {
    payouts: tracedService("payouts", permissionGuard(payouts, rights.PAYOUTS)),
    payoutActivity,
    payoutRunner,
    payoutSchedules: permissionGuard(payoutSchedules, rights.PAYOUT_SCHEDULES),
    runDueSchedules: scheduleRuns.runDue,
  };
};

export const encryptedTablesOf = (database: Database): readonly EncryptedRows[] => [
  encryptedTokenKeys(database),
  encryptedManagedKeys(database),
  encryptedWebhookSecrets(database),
  encryptedChannelAddresses(database),
  encryptedPrivacyWallets(database),
  encryptedTotpSecrets(database),
];

export type Services = ReturnType<typeof createServices>;

const buildFaucet = (config: Config, registry: ChainRegistry): Faucet | null =>
  config.devnet ? createFaucet({ registry }) : null;

// The server's bundle and Next's bundle each have a copy of this module. The registered symbol
// makes them share one set of services.
const SERVICES = Symbol.for("causeway.services");
const shared = globalThis as { [SERVICES]?: Services };

export const setServices = (services: Services): void => {
  shared[SERVICES] = services;
};

/**
 * The services of this process. Created from the environment when nobody has set them (plain `next
 * start` and `next dev`).
 */
export const getServices = (): Services => (shared[SERVICES] ??= createOwnServices());

const createOwnServices = (): Services => {
  const services = createServices(loadConfig());
  // A failed start is repeated; until it succeeds, the machine's clock is used.
  services.instances.start().catch(() => undefined);
  return services;
};
