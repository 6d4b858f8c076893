import { createAssets } from "@/lib/chains/assets";
import type { Token } from "@/lib/core/token";
import { sqlOf } from "@/lib/db/sql";
import { createAnnotationReads } from "@/lib/modules/annotations/service";
import { createSmartAccountsService } from "@/lib/modules/smart-accounts/service";
import { createHoldsRepository } from "@/lib/modules/holds/repository";
import { createHoldsService } from "@/lib/modules/holds/service";
import { createScreenedBlocks } from "@/lib/modules/holds/screened-blocks";
import { createLedgerRepository } from "@/lib/modules/ledger/repository";
import { createLedgerService } from "@/lib/modules/ledger/service";
import { createEventRepository } from "@/lib/modules/operations/event-repository";
import { createOperationListRepository } from "@/lib/modules/operations/list-repository";
import { createKnownSets } from "@/lib/modules/operations/known-sets";
import { createLegRepository } from "@/lib/modules/operations/leg-repository";
import { createOperationsRepository } from "@/lib/modules/operations/repository";
import { createRefundDecisionRepository } from "@/lib/modules/operations/refund-decision-repository";
import { createOperationsService } from "@/lib/modules/operations/service";
import { createWaitingRepository } from "@/lib/modules/operations/waiting-repository";
import { withPrivacyLegs, type ExitCalls } from "@/lib/modules/privacy/service";
import { createReserveReadings } from "@/lib/modules/reserves/repository";
import { createReservesService } from "@/lib/modules/reserves/service";
import { createSponsorshipService } from "@/lib/modules/sponsorship/service";
import { createStreamsRepository } from "@/lib/modules/streams/repository";
import { createStreamsService } from "@/lib/modules/streams/service";
import { observeLedgerBatch } from "@/lib/telemetry/call-metrics";
import { readAt, readEach } from "./balance-reads";
import type { Platform } from "./platform";
import { buildScreening } from "./screening";
import { buildRouting } from "./routing";
import type { ChainAccess } from "./chain-access";
import type { Identity } from "./identity";
import { buildMovement } from "./movement";
import { buildPolicies } from "./policies";

const buildHolds = ({ database, registry }: Pick<Platform, "database" | "registry">) => {
  const repository = createHoldsRepository(database);
  const holds = createHoldsService({
    repository,
    readBalances: (at) => readEach(registry, at),
    readBalanceAt: (at, block) => readAt(registry, at, block),
  });
  return { holds, screenedBlocks: createScreenedBlocks(repository) };
};

/** Balances, holds and budgets, and the operations that move money over the chains. */
export const buildMoney = (platform: Platform, chainAccess: ChainAccess, identity: Identity, exitCalls: ExitCalls) => {
  const { config, shares, database, listener, handover, ticker, registry, secrets, clock } = platform;
  const { safeAccounts, bundler, wallets } = chainAccess;
  const routing = withPrivacyLegs(buildRouting(platform), exitCalls);
  const smartAccounts = createSmartAccountsService({ registry, smartAccounts: safeAccounts, bundler });
  const { holds, screenedBlocks } = buildHolds(platform);
  const pooling = { poolSize: shares.ledger, isPooled: config.isDatabasePooled };
  const ledgerRepository = createLedgerRepository(config.databaseUrl, { ...pooling, onAnnounced: listener.tell });
  const ledger = createLedgerService({ repository: ledgerRepository, clock, onBatch: observeLedgerBatch });
  const assets = createAssets(registry);
  const [readings, reader] = [createReserveReadings(database), sqlOf(database.prisma)];
  const reserves = createReservesService({
    ...{ registry, assets, wallets, reader, readings, screenedBlocks, ledger, secrets, clock },
  });
  const sponsorship = createSponsorshipService({
    database,
    registry,
    clock,
    maxFeePerGas: (chainId) => smartAccounts.maxFeePerGas(chainId),
  });
  const knownSets = createKnownSets();
  const operationsRepository = createOperationsRepository(database, sponsorship, { known: knownSets, handover });
  const legRepository = createLegRepository(database, sponsorship, knownSets);
  const operations = createOperationsService({
    repository: operationsRepository,
    lists: createOperationListRepository(database, platform.errorLog),
    waiting: createWaitingRepository(database, sponsorship),
    decisions: createRefundDecisionRepository(database, sponsorship),
    routing,
    annotations: createAnnotationReads({ database }),
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
  const prices = {
    priceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.priceUsd(tokens, signal),
    highestPriceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.highestPriceUsd(tokens, signal),
  };
  const screening = buildScreening(platform);
  const policies = buildPolicies(platform, identity, prices, screening);
  const movement = buildMovement(platform, chainAccess, identity, {
    routing,
    smartAccounts,
    holds,
    sponsorship,
    operations,
    policyEngine: policies.policyEngine,
  });
  return {
    ...policies,
    screening,
    routing,
    smartAccounts,
    holds,
    ledger,
    ledgerPool: ledgerRepository.pool,
    assets,
    reserves,
    sponsorship,
    operationsRepository,
    legRepository,
    operations,
    streams,
    ...movement,
    prices,
  };
};

export type Money = ReturnType<typeof buildMoney>;
