import { readBalances } from "@/lib/chain/balances";
import type { ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import { createPolicyDocuments } from "@/lib/trust/policies/documents";
import { createPolicyEngine, type EngineDeps } from "@/lib/trust/policies/engine";
import type { ScreeningService } from "@/lib/trust/screening/service";
import type { Identity } from "./identity";
import type { Platform } from "./platform";
import { gatedPolicies } from "./signing";
import { createAssets } from "@/lib/chain/assets";
import { sqlOf } from "@/lib/platform/db/sql";
import { createAnnotationReads } from "@/lib/money/annotations/service";
import { createSmartAccountsService } from "@/lib/chain/smart-accounts/service";
import { createHoldsRepository } from "@/lib/books/holds/repository";
import { createHoldsService } from "@/lib/books/holds/service";
import { createScreenedBlocks } from "@/lib/books/holds/screened-blocks";
import { createLedgerRepository } from "@/lib/books/ledger/repository";
import { createLedgerService } from "@/lib/books/ledger/service";
import { createEventRepository } from "@/lib/money/operations/state-repository";
import { createOperationListRepository } from "@/lib/money/operations/list-repository";
import {
  createLegRepository,
  createRefundDecisionRepository,
} from "@/lib/money/operations/step-repository";
import { createOperationsRepository } from "@/lib/money/operations/repository";
import { createOperationsService } from "@/lib/money/operations/service";
import { createWaitingRepository } from "@/lib/money/operations/waiting-repository";
import { type ExitCalls, withPrivacyLegs } from "@/lib/money/privacy/service";
import { createReserveReadings } from "@/lib/books/reserves/repository";
import { createReservesService } from "@/lib/books/reserves/service";
import { createSponsorshipService } from "@/lib/books/sponsorship/service";
import { createStreamsRepository } from "@/lib/news/feed/streams-repository";
import { createStreamsService } from "@/lib/news/feed/streams";
import { observeLedgerBatch } from "@/lib/composition/metrics/call-metrics";
import type { CheckedAccess } from "./routing";
import { buildMovement } from "./movement";

const unreadable = (registry: ChainRegistry, { symbol, chainId }: Token): DomainError =>
  new DomainError(
    "chain_unavailable",
    `The balance of ${symbol} on ${registry.get(chainId).name} could not be read. Nothing was moved; try again shortly.`,
  );

const readAt = async (
  registry: ChainRegistry,
  { owner, token }: { readonly owner: string; readonly token: Token },
  block: bigint,
): Promise<bigint> => {
  const address = owner as EvmAddress;
  const balance = (await readBalances(registry, token.chainId, [address], [token], block)).get(
    address,
    token,
  );
  if (balance === null) throw unreadable(registry, token);
  return balance;
};

/**
 * Reads any number of balances with one round trip per chain.
 * @throws when a balance cannot be read, because it must not count as zero
 */
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
    if (balance === null || balance === undefined) throw unreadable(registry, token);
    return balance;
  });
};

const buildPolicies = (
  { database, registry, secrets, clock, signing }: Platform,
  { approvals, decisions, projects }: Identity,
  prices: EngineDeps["prices"],
  screening: ScreeningService,
) => {
  const own = createPolicyEngine({
    database,
    prices,
    approvals: decisions,
    secrets,
    clock,
    screening,
  });
  const policyEngine = gatedPolicies(own, signing);
  return {
    policyEngine,
    policyDocuments: createPolicyDocuments({
      database,
      approvals,
      registry,
      engine: policyEngine,
      projects,
      decisions,
      clock,
    }),
  };
};

const buildHolds = ({ database, registry }: Pick<Platform, "database" | "registry">) => {
  const repository = createHoldsRepository(database);
  const holds = createHoldsService({
    repository,
    readBalances: (at) => readEach(registry, at),
    readBalanceAt: (at, block) => readAt(registry, at, block),
  });
  return { holds, screenedBlocks: createScreenedBlocks(repository) };
};

export const buildMoney = (
  platform: Platform,
  access: CheckedAccess,
  identity: Identity,
  exitCalls: ExitCalls,
) => {
  const { config, shares, database, listener, handover, ticker, registry, secrets, clock } =
    platform;
  const { safeAccounts, bundler, wallets, screening, recipients } = access;
  const routing = withPrivacyLegs(access.routing, exitCalls);
  const smartAccounts = createSmartAccountsService({
    registry,
    smartAccounts: safeAccounts,
    bundler,
  });
  const { holds, screenedBlocks } = buildHolds(platform);
  const pooling = { poolSize: shares.ledger, isPooled: config.isDatabasePooled };
  const ledgerRepository = createLedgerRepository(config.databaseUrl, {
    ...pooling,
    onAnnounced: listener.tell,
  });
  const ledger = createLedgerService({
    repository: ledgerRepository,
    clock,
    onBatch: observeLedgerBatch,
  });
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
  const operationsRepository = createOperationsRepository(database, sponsorship, handover);
  const legRepository = createLegRepository(database, sponsorship);
  const operations = createOperationsService({
    repository: operationsRepository,
    lists: createOperationListRepository(database),
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
    priceUsd: (tokens: readonly Token[], signal: AbortSignal) =>
      routing.priceUsd(tokens, signal),
    highestPriceUsd: (tokens: readonly Token[], signal: AbortSignal) =>
      routing.highestPriceUsd(tokens, signal),
  };
  const policies = buildPolicies(platform, identity, prices, screening);
  const movement = buildMovement(platform, access, identity, {
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
    recipients,
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
