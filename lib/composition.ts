import { createBalanceReader } from "@/lib/chains/balance-reader";
import { privateKeyToAddress } from "viem/accounts";
import { distributorFaults } from "@/lib/chains/distributor-code";
import { checkChains, type StartReport } from "@/lib/chains/start-checks";
import type { ChainRegistry } from "@/lib/chains/registry";
import { loadConfig, type Config } from "@/lib/config/env";
import { permissionGuard } from "@/lib/core/permission-guard";
import { tracedService } from "@/lib/core/tracing";
import { sqlOn } from "@/lib/db/sql";
import type { Database } from "@/lib/db/client";
import { createIdempotencyKeyStore } from "@/lib/db/idempotency-keys";
import { createLiveClaims } from "@/lib/db/live-claims";
import { serverVersionFault } from "@/lib/db/server-version";
import { createRateWindowStore } from "@/lib/db/rate-window";
import { runAlone } from "@/lib/db/periodic-tasks";
import { sweepExpired, sweepWhenDue } from "@/lib/db/sweep";
import { createFaucet } from "@/lib/devnet/faucet";
import { encryptedTokenKeys } from "@/lib/modules/auth/token-key-repository";
import { requireKeys } from "@/lib/modules/encryption/rotation";
import type { EncryptedRows } from "@/lib/modules/encryption/service";
import { createAuditLinker } from "@/lib/modules/audit/linker";
import { createAuditService } from "@/lib/modules/audit/service";
import { createBalanceHistory } from "@/lib/modules/balances/history";
import { createSnapshotRepository } from "@/lib/modules/balances/repository";
import { createBalancesService } from "@/lib/modules/balances/service";
import { createEventsService } from "@/lib/modules/events/service";
import { movingFunds } from "@/lib/modules/holds/service";
import { arrivalsOf } from "@/lib/modules/operations/service";
import { createProjectInbox } from "@/lib/modules/inbox/service";
import { createJobsRepository } from "@/lib/modules/jobs/repository";
import { createParkedJobs } from "@/lib/modules/jobs/parked-jobs";
import { createPayouts } from "@/lib/modules/payouts/wiring";
import { encryptedTotpSecrets } from "@/lib/modules/factors/totp-repository";
import { encryptedPrivacyWallets } from "@/lib/modules/privacy/service";
import { encryptedManagedKeys } from "@/lib/modules/wallets/managed-key-repository";
import { encryptedWebhookSecrets } from "@/lib/modules/webhooks/secret-repository";
import type { Faucet } from "@/lib/ports/devnet";
import * as rights from "./composition/caller-rights";
import { createProjectBudgets } from "@/lib/modules/sponsorship/project-budgets";
import type { Overrides } from "./composition/overrides";
import { buildPlatform, type Platform } from "./composition/platform";
import { buildChanges } from "./composition/changes";
import { buildChainAccess, type ChainAccess } from "./composition/chain-access";
import { buildActivity } from "./composition/activity";
import { buildAnnotations } from "./composition/annotations";
import { buildGlobalAccounts } from "./composition/global-accounts";
import { buildIdentity, type Identity } from "./composition/identity";
import { buildMoney, type Money } from "./composition/money";
import { buildDeposits } from "./composition/deposits";
import { buildDrivers, type Drivers } from "./composition/drivers";
import { buildNotifying } from "./composition/notifications";
import { buildPolicyUpgrade } from "./composition/policy-upgrade";
import { buildPrivacy } from "./composition/privacy";
import { buildWebhooks } from "./composition/webhooks";
import { buildReplica } from "./composition/replica";
import { buildReconcile } from "./composition/reconcile";
import { buildReadiness } from "./composition/readiness";
import { buildTelemetry } from "./composition/telemetry";

export type { Overrides };

/** Builds every service from the configuration. Nothing connects before it is used. */
export const createServices = (config: Config, overrides: Overrides = {}) => {
  const platform = buildPlatform(config, overrides);
  const chainAccess = buildChainAccess(platform);
  // Called when a request was decided, long after payouts and swaps are built.
  const identity = buildIdentity(platform, chainAccess, () => ({
    payout: payouts.payouts.subject,
    operation: {
      ...money.swaps.subject,
      onDecided: (decided) =>
        (decided.request.private ? privacy.service.subject : money.swaps.subject).onDecided(decided),
    },
  }));
  // Called when a leg is executed, long after `privacy` is built.
  const money = buildMoney(platform, chainAccess, identity, (exit, signal) => privacy.service.exitCalls(exit, signal));
  const drivers = buildDrivers(platform, chainAccess, money);
  const privacy = buildPrivacy(platform, chainAccess, identity, money);
  const webhooks = buildWebhooks(platform, identity);
  const telemetry = buildTelemetry(platform, { money, webhooks: webhooks.sending.sampler });
  const { readiness, closeReadiness } = buildReadiness(platform, identity.mailer);
  const deposits = buildDeposits(platform, identity, money);
  const { payoutActivity, ...payouts } = buildPayouts({ platform, chainAccess, identity, money, drivers });
  const parts = sharedParts(platform);
  const { replica, close: closeReplica } = buildReplica(platform, (own) => readServices(own, platform.registry));
  const holdings = moneyServices({ platform, chainAccess, money, identity });
  return {
    ...parts,
    changes: buildChanges(platform, holdings.balances),
    projectInbox: createProjectInbox({
      decisions: identity.decisions,
      operations: money.operations,
      payouts: payouts.payouts,
      schedules: payouts.payoutSchedules,
      deposits,
      ...{ contacts: identity.contacts, privacy: privacy.service },
      policies: money.policyDocuments,
      parkedJobs: parts.parkedJobs,
      clock: platform.clock,
    }),
    ...identityServices(identity),
    ...holdings,
    projectBudgets: createProjectBudgets({ ...platform, ...money, ...identity }),
    ...drivers,
    ...payouts,
    activity: buildActivity(platform, money, { deposits, payouts: payoutActivity, privacy: privacy.service }),
    deposits: tracedService("deposits", permissionGuard(deposits, rights.DEPOSITS)),
    annotations: permissionGuard(buildAnnotations(platform, { ...money, ...payouts }), rights.ANNOTATIONS),
    privacy: tracedService("privacy", {
      ...permissionGuard(privacy.service, rights.PRIVACY),
      wallets: permissionGuard(privacy.service.wallets, rights.PRIVATE_WALLETS),
    }),
    privacyRunner: privacy.runner,
    policyUpgrade: buildPolicyUpgrade(platform, money, { privateDigest: privacy.spendDigest }),
    exportPrivacyWallet: privacy.exportWallet,
    callbacks: webhooks.callbacks,
    webhooks: webhooks.webhooks,
    /** Null in production. */
    webhookReceiver: webhooks.webhookReceiver,
    /** Numbers events and delivers them, beside any number of other instances. */
    startWebhooks: webhooks.sending.start,
    ...telemetry,
    notifying: buildNotifying(platform, identity, money),
    readiness,
    reconciliation: buildReconcile(platform, money),
    replica,
    /** Ends everything that waited for approval for too long. */
    expireDue: async (): Promise<void> => {
      await Promise.all([money.operations.expireDue(), payouts.payouts.expireDue(platform.clock.now())]);
    },
    close: async (): Promise<void> => {
      identity.closeMail();
      privacy.close();
      await identity.apiRequests.close();
      await platform.closeInstances();
      await closeReadiness();
      await closeReplica();
      await platform.listener.close();
      await money.ledger.close();
      await webhooks.sending.close();
      await platform.database.close();
    },
  };
};

/** Parts of the process that every other part uses, and the work that keeps the database tidy. */
const sharedParts = ({
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
}: Platform) => ({
  config,
  clock,
  log,
  errorLog,
  database,
  listener,
  /** By which this process gives its worker the jobs that it stores. */
  handover,
  ticker,
  registry,
  instances,
  /** Whether money may be signed for with this database. */
  signing,
  audit: createAuditService({ database }),
  auditLinker: createAuditLinker({ database, secrets, clock }),
  events: createEventsService({ reader: sqlOn(database.pool) }),
  jobs: createJobsRepository(database),
  parkedJobs: createParkedJobs({ database, clock }),
  idempotencyStore: createLiveClaims({
    database,
    store: createIdempotencyKeyStore(database, { keepHours: config.retention.idempotencyKeysHours }),
    instances,
  }),
  rateStore: createRateWindowStore(database),
  faucet: buildFaucet(config, registry),
  sweep: () => sweepExpired(database, config.retention),
  /** The same, unless another instance has swept within `everyMs`. */
  sweepWhenDue: (everyMs: number, signal?: AbortSignal) =>
    sweepWhenDue(database, config.retention, signal === undefined ? { everyMs } : { everyMs, signal }),
  /** Runs `work` unless another instance does, or did less than `everyMs` milliseconds ago. */
  runAlone: (task: { name: string; everyMs: number; leaseMs: number }, work: () => Promise<unknown>) =>
    runAlone(database, task, work),
  checkStart: () => checkStart(config, database),
  /** @throws MissingKeysError when the database needs a key-encryption key that is not configured */
  requireKeys: () => requireKeys(keyring, encryptedTablesOf(database)),
});

/** Compares the configuration with the chains and the database. A database that does not answer is left out. */
const checkStart = async (config: Config, database: Database): Promise<StartReport> => {
  const [version, { faults, warnings }] = await Promise.all([
    serverVersionFault(database.pool).catch(() => null),
    checkChains({
      chains: config.chains,
      executor: config.executorPrivateKey === null ? null : privateKeyToAddress(config.executorPrivateKey),
      bundlerChainIds: new Set(config.bundlerUrls.keys()),
    }),
  ]);
  return { faults: version === null ? faults : [version, ...faults], warnings };
};

/** People, their projects and keys, and their permissions. */
const identityServices = (identity: Identity) => ({
  auth: identity.auth,
  projects: identity.projects,
  approvals: identity.approvals,
  decisions: identity.decisions,
  decisionRunner: identity.decisionRunner,
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

/** Services on a replica of the database. Their type is left open, because `createServices` has a part of theirs. */
const readServices = (config: Config, registry: ChainRegistry): { reads: object; close(): Promise<void> } => {
  const reads = createServices(config, { registry });
  return { reads, close: reads.close };
};

interface MoneyParts {
  readonly platform: Platform;
  readonly chainAccess: ChainAccess;
  readonly money: Money;
}

/** Wallets and their balances, moves over the chains, and the books. */
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
      out: (projectId, at) => movingFunds(sqlOn(database.pool), { projectId, at, now: clock.now() }),
      in: (projectId, at) => arrivalsOf(sqlOn(database.pool), projectId, at),
    },
    prices: money.prices,
    history: createBalanceHistory({ snapshots: createSnapshotRepository(database), clock, log: errorLog }),
    clock,
  }),
  ...buildGlobalAccounts({ database, clock }, money, identity),
  /** Chains on which no payout to wallets is signed, and why. */
  distributorFaults: () => distributorFaults(registry),
});

/** Payouts to accounts and to wallets, and their schedules. */
const buildPayouts = ({
  platform: { database, registry, clock, errorLog: log, signing: lostMoves },
  chainAccess: { wallets, freezes },
  identity: { contacts, projects, policies, decisions, approvals, otp },
  money,
  drivers,
}: MoneyParts & { readonly identity: Identity; readonly drivers: Drivers }) => {
  const { payouts, payoutActivity, payoutRunner, payoutSchedules, scheduleRuns, indexPayoutKeys } = createPayouts({
    ...money,
    ...{ database, registry, clock, log, lostMoves },
    wallets,
    contacts,
    projects,
    policies,
    decisions,
    approvals,
    otp,
    freezes,
    walletBatches: drivers.batchDriver,
  });
  /** `runDueSchedules` makes the payouts of schedules that are due. */
  return {
    payouts: tracedService("payouts", permissionGuard(payouts, rights.PAYOUTS)),
    payoutActivity,
    payoutRunner,
    indexPayoutKeys,
    payoutSchedules: permissionGuard(payoutSchedules, rights.PAYOUT_SCHEDULES),
    runDueSchedules: scheduleRuns.runDue,
  };
};

/** Every table with values under key-encryption keys. */
export const encryptedTablesOf = (database: Database): readonly EncryptedRows[] => [
  encryptedTokenKeys(database),
  encryptedManagedKeys(database),
  encryptedWebhookSecrets(database),
  encryptedPrivacyWallets(database),
  encryptedTotpSecrets(database),
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
