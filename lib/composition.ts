import { hostname } from "node:os";
import { zeroAddress } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { createRpcBundler } from "@/lib/adapters/erc4337-rpc/rpc-bundler";
import { createExecutorBundler } from "@/lib/adapters/executor/executor-bundler";
import { createBundlerRouter } from "@/lib/adapters/executor/router";
import { createInboxMailer } from "@/lib/adapters/inbox/mailer";
import { createPrivacyPools } from "@/lib/adapters/privacy-pools/engine";
import type { Prover } from "@/lib/adapters/privacy-pools/prover";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createSafeAccounts } from "@/lib/adapters/safe-account/safe-accounts";
import { createSmtpMailer } from "@/lib/adapters/smtp/mailer";
import { createWebhookSender } from "@/lib/adapters/webhook-http/sender";
import { createAssets } from "@/lib/chains/assets";
import { readBalances } from "@/lib/chains/balances";
import { distributorFaults } from "@/lib/chains/distributor-code";
import { suggestFees } from "@/lib/chains/fees";
import { createHeadProbe } from "@/lib/chains/head-probe";
import { createChainRegistry, type ChainRegistry } from "@/lib/chains/registry";
import { loadConfig, type Config } from "@/lib/config/env";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { createReadinessService } from "@/lib/core/readiness";
import { createTicker, type Ticker } from "@/lib/core/ticker";
import type { Token } from "@/lib/core/token";
import { keptSqlOn, sqlOf, sqlOn, type Sql } from "@/lib/db/sql";
import { createDatabase, inRawTransaction, type Database } from "@/lib/db/client";
import { splitConnections } from "@/lib/db/connections";
import { createDatabaseClock } from "@/lib/db/database-clock";
import { createIdempotencyKeyStore } from "@/lib/db/idempotency-keys";
import { createInstances } from "@/lib/db/instances";
import { createListener } from "@/lib/db/listener";
import { createLiveClaims } from "@/lib/db/live-claims";
import { createPool } from "@/lib/db/pool";
import { createRateWindowStore } from "@/lib/db/rate-window";
import { databaseProbes } from "@/lib/db/readiness-probes";
import { sweepExpired } from "@/lib/db/sweep";
import { createFaucet } from "@/lib/devnet/faucet";
import { getLogger, loggedError } from "@/lib/http/logger";
import { callbackMetrics, deliveryMetrics, sampleBacklog } from "@/lib/http/webhook-metrics";
import { createDeploymentClaims } from "@/lib/modules/smart-accounts/repository";
import { createSmartAccountsService, type ManagedAccount } from "@/lib/modules/smart-accounts/service";
import { encryptedTokenKeys } from "@/lib/modules/auth/token-key-repository";
import { requireKeys } from "@/lib/modules/encryption/rotation";
import { createEnvelopes, createKeyring, type EncryptedRows } from "@/lib/modules/encryption/service";
import { createApprovalsService } from "@/lib/modules/approvals/service";
import { createCallbacksRepository } from "@/lib/modules/callbacks/repository";
import { createCallbacksService } from "@/lib/modules/callbacks/service";
import { createCodeLimits } from "@/lib/modules/code-limits/service";
import { createContactsService } from "@/lib/modules/contacts/service";
import { createAuditService } from "@/lib/modules/audit/service";
import { createApiKeysService } from "@/lib/modules/api-keys/service";
import { createPeople } from "@/lib/modules/auth/people";
import { createAuthService } from "@/lib/modules/auth/service";
import { createBalanceHistory } from "@/lib/modules/balances/history";
import { createSnapshotRepository } from "@/lib/modules/balances/repository";
import { createBalancesService } from "@/lib/modules/balances/service";
import { outboxBacklog } from "@/lib/modules/events/repository";
import { createSequencer } from "@/lib/modules/events/sequencer";
import { createEventsService, type SequencedRange } from "@/lib/modules/events/service";
import { createHoldsRepository } from "@/lib/modules/holds/repository";
import { createHoldsService } from "@/lib/modules/holds/service";
import { createGlobalAccountsService } from "@/lib/modules/global-accounts/service";
import { createJobsRepository } from "@/lib/modules/jobs/repository";
import { createLedgerRepository } from "@/lib/modules/ledger/repository";
import { createLedgerService } from "@/lib/modules/ledger/service";
import { createMailOutbox } from "@/lib/modules/mail/outbox";
import { createInboxRepository } from "@/lib/modules/mail/repository";
import { createInboxService } from "@/lib/modules/mail/service";
import { createEventRepository } from "@/lib/modules/operations/event-repository";
import { createOperationDriver } from "@/lib/modules/operations/driver";
import { createHeads } from "@/lib/modules/operations/heads";
import { createOperationListRepository } from "@/lib/modules/operations/list-repository";
import { createOperationsRepository } from "@/lib/modules/operations/repository";
import { createOperationsService } from "@/lib/modules/operations/service";
import { createWaitingRepository } from "@/lib/modules/operations/waiting-repository";
import { createOtpRepository } from "@/lib/modules/otp/repository";
import { createOtpService } from "@/lib/modules/otp/service";
import { createBatchDriver } from "@/lib/modules/payouts/wallets/batches/driver";
import { createBatchRepository } from "@/lib/modules/payouts/wallets/batches/repository";
import { createPayouts } from "@/lib/modules/payouts/wiring";
import { createExporting } from "@/lib/modules/privacy/exporting";
import { createPrivacyRepository } from "@/lib/modules/privacy/repository";
import { createPrivacyRunner } from "@/lib/modules/privacy/runner";
import { createPrivacyService, encryptedPrivacyWallets, withShields } from "@/lib/modules/privacy/service";
import { createPrivacyWalletRepository } from "@/lib/modules/privacy/wallet-repository";
import { createPrivateWallets } from "@/lib/modules/privacy/wallets";
import { createProjectPolicies } from "@/lib/modules/policies/project-policy";
import { createPoliciesService } from "@/lib/modules/policies/service";
import { createProjectsService } from "@/lib/modules/projects/service";
import { createQuotesRepository } from "@/lib/modules/quotes/repository";
import { createQuotesService } from "@/lib/modules/quotes/service";
import { createReservesService } from "@/lib/modules/reserves/service";
import { createSecrets } from "@/lib/modules/secrets/service";
import { createSponsorshipService } from "@/lib/modules/sponsorship/service";
import { createStreamsRepository } from "@/lib/modules/streams/repository";
import { createStreamsService } from "@/lib/modules/streams/service";
import { createSwapsService } from "@/lib/modules/swaps/service";
import { createTransfersService } from "@/lib/modules/transfers/service";
import { createChainTransactionsService } from "@/lib/modules/chain-transactions/service";
import { createWalletLinks } from "@/lib/modules/wallets/links";
import { createManagedKeyRepository, encryptedManagedKeys } from "@/lib/modules/wallets/managed-key-repository";
import { createWalletsService, type WalletsService } from "@/lib/modules/wallets/service";
import { deliveryBacklog } from "@/lib/modules/webhooks/delivery-repository";
import { startDeliveryRunner } from "@/lib/modules/webhooks/runner";
import { encryptedWebhookSecrets } from "@/lib/modules/webhooks/secret-repository";
import { createWebhooksService, fanOutEvents, type WebhooksService } from "@/lib/modules/webhooks/service";
import type { Bundler } from "@/lib/ports/bundler";
import type { Faucet } from "@/lib/ports/devnet";
import type { Mailer } from "@/lib/ports/mail";
import type { EvmAddress, RoutingProvider } from "@/lib/ports/routing";
import type { WebhookSender } from "@/lib/ports/webhook-sender";

/** What tests put in the place of the real thing. */
export interface Overrides {
  clock?: Clock;
  registry?: ChainRegistry;
  routing?: RoutingProvider;
  bundler?: Bundler;
  prover?: Prover;
  mailer?: Mailer;
  ticker?: Ticker;
  webhookSender?: WebhookSender;
}

const OVERDUE_MS = 15_000;
const EXECUTOR_KEY_ID = "executor";

/** Builds every service from the configuration. Nothing connects before it is used. */
export const createServices = (config: Config, overrides: Overrides = {}) => {
  const shares = splitConnections(config.databaseConnectionsMax);
  const { clock, instances, closeInstances } = buildInstances(config, overrides, shares.heartbeat);
  const log = getLogger(config.logLevel);
  // What an error carries may hold secrets, so it is logged in a form of its own.
  const errorLog = {
    warn: (fields: object, message: string): void => log.warn(withError(fields), message),
    error: (fields: object, message: string): void => log.error(withError(fields), message),
  };
  const database = createDatabase(config.databaseUrl, { poolSize: shares.shared });
  const listener = createListener(config.databaseUrl);
  const ticker = overrides.ticker ?? createTicker();
  const registry = overrides.registry ?? createChainRegistry(config.chains);
  const secrets = createSecrets(config.appSecret, config.appSecretPrevious);
  const keyring = createKeyring(config.keyEncryptionKeys);

  const signer = createLocalSigner({
    store: createManagedKeyRepository(database),
    envelopes: createEnvelopes(keyring),
    staticKeys: { [EXECUTOR_KEY_ID]: config.executorPrivateKey },
    clock,
  });
  const { smartAccounts, bundler, transactions } = buildChainAccess({
    config,
    overrides,
    database,
    registry,
    signer,
    clock,
    log,
  });
  const routing = withShields(overrides.routing ?? createOnchainRouting({ registry, clock }));
  const wallets = createWalletsService({
    database,
    signer,
    registry,
    clock,
    smartAccounts: deploymentsOf(smartAccounts),
  });
  const { mailer, inbox, closeMail } = buildMail(config, overrides, database, clock);

  const mailOutbox = createMailOutbox({ database, mailer, clock, log: errorLog });
  const projects = createProjectsService({ database, clock, outbox: mailOutbox });
  const people = createPeople({ database });
  const codeLimits = createCodeLimits({ limitNetworks: config.rateLimitPerIp > 0 });
  const otpRepository = createOtpRepository(database, codeLimits);
  const otp = createOtpService({ repository: otpRepository, mailer, clock, secrets, contacts: people });
  const { publicUrl } = config;
  const approvals = createApprovalsService({ database, otp, people, projects, registry, publicUrl, clock });
  const auth = createAuthService({
    database,
    secrets,
    keyring,
    publicUrl,
    registry,
    projects,
    wallets,
    mail: mailer,
    approvals,
    signUp: config.signUp,
    codeLimits,
    clock,
  });
  const walletLinks = createWalletLinks({ database, registry, publicUrl: config.publicUrl, profiles: auth, clock });
  const contacts = createContactsService({ database, clock });
  const live = config.chains.some((chain) => !chain.testnet);
  const policies = createPoliciesService({ database });
  const authority = { database, approvals, policies, projects, clock };
  const apiKeys = createApiKeysService({ ...authority, secrets, people, publicUrl, kind: live ? "live" : "test" });

  const accounts = createSmartAccountsService({ registry, smartAccounts, bundler });
  const holds = createHoldsService({
    repository: createHoldsRepository(database),
    readBalances: (at) => readEach(registry, at),
  });
  const ledger = createLedgerService({
    repository: createLedgerRepository(config.databaseUrl, { poolSize: shares.ledger }),
    clock,
  });
  const assets = createAssets(registry);
  const reserves = createReservesService({
    registry,
    assets,
    wallets,
    reader: sqlOf(database.prisma),
    ledger,
    secrets,
    clock,
  });
  const sponsorship = createSponsorshipService({
    database,
    registry,
    clock,
    maxFeePerGas: (chainId) => accounts.maxFeePerGas(chainId),
  });
  const operationsRepository = createOperationsRepository(database, sponsorship);
  const operations = createOperationsService({
    repository: operationsRepository,
    lists: createOperationListRepository(database),
    waiting: createWaitingRepository(database, sponsorship),
    events: createEventRepository(database),
    holds,
    reserves,
    sponsorship,
    clock,
    listener,
    ticker,
  });
  const streams = createStreamsService({
    repository: createStreamsRepository(database),
    ticker,
    clock,
    listener,
    limitNetworks: config.rateLimitPerIp > 0,
  });
  const quotes = createQuotesService({
    repository: createQuotesRepository(database),
    registry,
    wallets,
    routing,
    holds,
    policies,
    sponsorship,
    clock,
  });
  const swaps = createSwapsService({
    quotes,
    registry,
    wallets,
    routing,
    accounts,
    holds,
    otp,
    policies,
    sponsorship,
    operations,
    clock,
  });
  const heads = createHeads(registry);
  const driving = {
    accounts,
    deployments: createDeploymentClaims(database),
    clock,
    chains: {
      ...heads,
      confirmations: (chainId: number) => registry.get(chainId).confirmations,
      blockTimeMs: (chainId: number) => registry.get(chainId).blockTimeMs,
      pollIntervalMs: (chainId: number) => registry.get(chainId).pollIntervalMs,
      token: (chainId: number, address: string) => registry.resolveToken(chainId, address),
    },
    managedAccount: (projectId: string, walletId: string) => managedAccountOf(wallets, projectId, walletId),
    log: errorLog,
  };
  const operationDriver = createOperationDriver({
    ...driving,
    repository: operationsRepository,
    routing,
    pollIntervalMs: driving.chains.pollIntervalMs,
  });
  const batchDriver = createBatchDriver({
    ...driving,
    repository: createBatchRepository(database, sponsorship),
    sponsorship,
  });

  const prices = {
    priceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.priceUsd(tokens, signal),
    highestPriceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.highestPriceUsd(tokens, signal),
  };
  const privacy = buildPrivacy({
    config,
    overrides,
    database,
    registry,
    keyring,
    wallets,
    accounts,
    operations,
    sponsorship,
    otp,
    policies,
    prices,
    transactions,
    clock,
    log: errorLog,
  });
  const jobs = createJobsRepository(database);
  const { readiness, closeReadiness } = buildReadiness({
    config,
    registry,
    clock,
    mailer,
    connections: shares.readiness,
  });
  const globalAccounts = createGlobalAccountsService({ ledger, reserves, assets, clock });
  const webhookSender = overrides.webhookSender ?? createWebhookSender({ allowLoopback: config.env === "development" });
  const webhooks = createWebhooksService({
    database,
    keys: keyring,
    sender: webhookSender,
    projects,
    publicUrl,
    clock,
  });
  const sending = buildSending({ config, clock, webhooks, webhookSender, database, log: errorLog }, shares.webhooks);
  const { payouts, payoutRunner, payoutSchedules, scheduleRuns } = createPayouts({
    database,
    registry,
    assets,
    ledger,
    wallets,
    contacts,
    projects,
    operations,
    accounts,
    holds,
    swaps,
    reserves,
    sponsorship,
    policies,
    otp,
    prices,
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
    streams,
    registry,
    audit: createAuditService({ database }),
    auth,
    projects,
    approvals,
    apiKeys,
    policies,
    projectPolicies: createProjectPolicies(authority),
    mailOutbox,
    sponsorship,
    wallets,
    walletLinks,
    contacts,
    callbacks: buildCallbacks(config, database, clock),
    events: createEventsService({ reader: sqlOn(database.pool) }),
    webhooks,
    /** Numbers events and delivers them, beside any number of other instances. */
    startWebhooks: sending.start,
    otp,
    quotes,
    swaps,
    transfers: createTransfersService({
      quotes,
      operations,
      wallets,
      smartAccounts: accounts,
      policies,
      registry,
      clock,
    }),
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
    globalAccounts,
    payouts,
    payoutRunner,
    payoutSchedules,
    /** Makes the payouts of schedules that are due. */
    runDueSchedules: scheduleRuns.runDue,
    transactions,
    privacy: privacy.service,
    privacyRunner: privacy.runner,
    exportPrivacyWallet: createExporting({ ...privacy, approvals, clock }),
    jobs,
    faucet: buildFaucet(config, registry),
    inbox,
    instances,
    idempotencyStore: createLiveClaims({ database, store: createIdempotencyKeyStore(database), instances }),
    rateStore: createRateWindowStore(database),
    readiness,
    sweep: () => sweepExpired(database),
    /** @throws MissingKeysError when the database needs a key-encryption key that is not configured */
    requireKeys: () => requireKeys(keyring, encryptedTablesOf(database)),
    /** Ends what waited for approval, or held money, for too long. */
    expireDue: async (): Promise<void> => {
      const now = clock.now();
      await Promise.all([operations.expireDue(), payouts.expireDue(now), ledger.expireHolds(now)]);
    },
    close: async (): Promise<void> => {
      closeMail();
      privacy.close();
      await closeInstances();
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

interface Sending {
  config: Config;
  clock: Clock;
  webhooks: WebhooksService;
  webhookSender: WebhookSender;
  database: Database;
  log: { warn(fields: object, message: string): void };
}

/** The sequencer and the deliveries, on connections of their own where there are enough. */
const buildSending = ({ config, clock, webhooks, webhookSender, database, log }: Sending, connections: number) => {
  const own = connections === 0 ? null : createPool(config.databaseUrl, connections);
  const pool = own ?? database.pool;
  const sql = keptSqlOn(pool);
  const transaction = <T>(work: (tx: Sql) => Promise<T>): Promise<T> => inRawTransaction(pool, work, keptSqlOn);
  const start = (workerId: string): { stop(): Promise<void> } => {
    const { secretsOf, disable } = webhooks;
    const deps = { sql, transaction, clock, log, metrics: deliveryMetrics, random: Math.random, secretsOf, disable };
    const deliveries = startDeliveryRunner({ ...deps, sender: webhookSender, workerId });
    const fanOut = (tx: Sql, ranges: readonly SequencedRange[]): Promise<void> => fanOutEvents(tx, ranges, clock.now());
    const sequencer = createSequencer({ sql, transaction, fanOut, log, onSequenced: deliveries.wake }).start();
    const sampling = sampleBacklog({
      events: () => outboxBacklog(sql),
      deliveries: () => deliveryBacklog(sql),
      clock,
      log,
    });
    return {
      stop: async () => {
        sampling.stop();
        await sequencer.stop();
        await deliveries.stop();
      },
    };
  };
  const close = async (): Promise<void> => {
    webhookSender.close();
    await own?.end();
  };
  return { start, close };
};

const buildCallbacks = (config: Config, database: Database, clock: Clock) =>
  createCallbacksService({
    repository: createCallbacksRepository(database),
    secrets: {
      shared: config.webhookSecret,
      relay: config.relayWebhookSecret,
      across: config.acrossWebhookSecret,
    },
    clock,
    metrics: callbackMetrics,
  });

interface ChainAccess {
  config: Config;
  overrides: Overrides;
  database: Database;
  registry: ChainRegistry;
  signer: ReturnType<typeof createLocalSigner>;
  clock: Clock;
  log: ReturnType<typeof getLogger>;
}

const buildChainAccess = ({ config, overrides, database, registry, signer, clock, log }: ChainAccess) => {
  const smartAccounts = createSafeAccounts({ registry, signer });
  const transactions = createChainTransactionsService({ database, registry, signer, clock, log });
  const executorAddress = config.executorPrivateKey === null ? null : privateKeyToAddress(config.executorPrivateKey);
  const marker = executorAddress === null ? null : { transactions, executorAddress };
  const rpc = createRpcBundler({ registry, urls: config.bundlerUrls, marker });
  const executor = executorAddress === null ? null : createExecutorBundler({ registry, transactions, executorAddress });
  const bundler =
    overrides.bundler ??
    (executor === null ? rpc : createBundlerRouter({ executor, rpc, rpcChainIds: new Set(config.bundlerUrls.keys()) }));
  return { smartAccounts, transactions, bundler };
};

/** Private balances: the engine, what decides, and what carries on. */
const buildPrivacy = (
  parts: {
    config: Config;
    overrides: Overrides;
    database: Database;
    keyring: ReturnType<typeof createKeyring>;
    transactions: ReturnType<typeof createChainTransactionsService>;
    log: { warn(fields: object, message: string): void };
  } & Omit<PrivacyServiceDeps, "repository" | "privateWallets" | "engine" | "anonymitySetMin">,
) => {
  const { config, overrides, database, keyring, registry, clock, transactions, log, ...services } = parts;
  const relayer = config.executorPrivateKey === null ? zeroAddress : privateKeyToAddress(config.executorPrivateKey);
  const { prover } = overrides;
  const engine = createPrivacyPools({ registry, relayer, ...(prover === undefined ? {} : { prover }) });
  const repository = createPrivacyRepository(database);
  const wallets = createPrivacyWalletRepository(database);
  const privateWallets = createPrivateWallets({
    wallets,
    envelopes: createEnvelopes(keyring),
    newMnemonic: engine.newMnemonic,
    clock,
  });
  const anonymitySetMin = config.privacyAnonymitySetMin;
  const service = createPrivacyService({
    ...services,
    registry,
    clock,
    repository,
    privateWallets,
    engine,
    anonymitySetMin,
  });
  const runner = createPrivacyRunner({
    repository,
    privateWallets,
    engine,
    transactions,
    wallets: services.wallets,
    fees: (chainId) => suggestFees(registry.client(chainId)),
    pollIntervalMs: (chainId) => registry.get(chainId).pollIntervalMs,
    log,
    clock,
  });
  return { service, runner, wallets, privateWallets, close: () => engine.close() };
};

type PrivacyServiceDeps = Parameters<typeof createPrivacyService>[0];

/** The wallets module asks by address; the accounts answer in order. */
const deploymentsOf = (smartAccounts: ReturnType<typeof createSafeAccounts>) => ({
  addressOf: ({ ownerAddress }: { readonly ownerAddress: EvmAddress }) => smartAccounts.addressOf(ownerAddress),
  originOf: async ({ ownerAddress }: { readonly ownerAddress: EvmAddress }) => ({
    factory: (await smartAccounts.deployment(ownerAddress)).to,
    salt: smartAccounts.saltNonce.toString(),
  }),
  isDeployed: async (chainId: number, addresses: readonly EvmAddress[]): Promise<ReadonlyMap<EvmAddress, boolean>> => {
    const deployed = await smartAccounts.isDeployed(chainId, addresses);
    return new Map(addresses.map((address, index) => [address, deployed[index] === true]));
  },
});

const buildMail = (config: Config, overrides: Overrides, database: Database, clock: Clock) => {
  const nothingOpen = (): void => undefined;
  if (overrides.mailer) return { mailer: overrides.mailer, inbox: null, closeMail: nothingOpen };
  if (config.smtpUrl !== null) {
    const mailer = createSmtpMailer({ url: config.smtpUrl, from: config.mailFrom });
    return { mailer, inbox: null, closeMail: () => mailer.close() };
  }
  // Production without SMTP_URL does not start (lib/config/env.ts), so this is development.
  const repository = createInboxRepository(database, clock);
  return {
    mailer: createInboxMailer({ store: repository }),
    inbox: createInboxService(repository),
    closeMail: nothingOpen,
  };
};

const buildFaucet = (config: Config, registry: ChainRegistry): Faucet | null =>
  config.devnet ? createFaucet({ registry }) : null;

const managedAccountOf = async (
  wallets: WalletsService,
  projectId: string,
  walletId: string,
): Promise<ManagedAccount | null> => {
  const wallet = await wallets.findById(projectId, walletId);
  if (!wallet || wallet.keyId === null || wallet.ownerAddress === null) return null;
  return { projectId, address: wallet.address, ownerAddress: wallet.ownerAddress, keyId: wallet.keyId };
};

/** One round trip per chain, whatever the number of balances. A balance that cannot be read is an error, not zero. */
const readEach = async (
  registry: ChainRegistry,
  at: readonly { chainId: number; owner: string; token: Token }[],
): Promise<readonly bigint[]> => {
  const chainIds = [...new Set(at.map(({ chainId }) => chainId))];
  const byChain = await Promise.all(
    chainIds.map(async (chainId) => {
      const here = at.filter((each) => each.chainId === chainId);
      const owners = [...new Set(here.map(({ owner }) => owner as EvmAddress))];
      const tokens = [...new Map(here.map(({ token }) => [token.address, token])).values()];
      return [chainId, await readBalances(registry, chainId, owners, tokens)] as const;
    }),
  );
  const balances = new Map(byChain);
  return at.map(({ chainId, owner, token }) => {
    const balance = balances.get(chainId)?.get(owner as EvmAddress, token);
    if (balance === null || balance === undefined) {
      throw new DomainError(
        "chain_unavailable",
        `The balance of ${token.symbol} on ${registry.get(chainId).name} could not be read.`,
      );
    }
    return balance;
  });
};

const withError = (fields: object): object => ("err" in fields ? { ...fields, err: loggedError(fields.err) } : fields);

/** The parts that `/ready` asks, over a connection of its own. */
const buildReadiness = (parts: {
  config: Config;
  registry: ChainRegistry;
  clock: Clock;
  mailer: Mailer;
  connections: number;
}) => {
  const { config, registry, mailer } = parts;
  const pool = createPool(config.databaseUrl, parts.connections);
  const jobs = createJobsRepository({ pool });
  const mail = { name: "mail", check: () => Promise.resolve(mailer.id === "inbox" ? "development inbox" : mailer.id) };
  const readiness = createReadinessService([
    ...databaseProbes({
      pool,
      databaseUrl: config.databaseUrl,
      overdueJobs: () => jobs.overdue(OVERDUE_MS),
      folders: [process.cwd()],
    }),
    mail,
    ...registry.list().map((chain) => createHeadProbe(parts, chain.id)),
  ]);
  return { readiness, closeReadiness: () => pool.end() };
};

/** This process among those that share the database, and the time by the database's clock. */
const buildInstances = (config: Config, overrides: Overrides, connections: number) => {
  const databaseClock = createDatabaseClock();
  const pool = createPool(config.databaseUrl, connections);
  const instances = createInstances({ pool, id: newInstanceId(), onTime: databaseClock.measured });
  const closeInstances = async (): Promise<void> => {
    await instances.close();
    await pool.end();
  };
  return { clock: overrides.clock ?? databaseClock, instances, closeInstances };
};

/** Host, process and a part that is new after each start. */
const newInstanceId = (): string => `${hostname()}:${String(process.pid)}:${crypto.randomUUID().slice(0, 8)}`;

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
