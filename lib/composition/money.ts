import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createAssets } from "@/lib/chains/assets";
import { readBalances } from "@/lib/chains/balances";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import { sqlOf } from "@/lib/db/sql";
import { createSmartAccountsService } from "@/lib/modules/smart-accounts/service";
import { createHoldsRepository } from "@/lib/modules/holds/repository";
import { createHoldsService } from "@/lib/modules/holds/service";
import { createLedgerRepository } from "@/lib/modules/ledger/repository";
import { createLedgerService } from "@/lib/modules/ledger/service";
import { createEventRepository } from "@/lib/modules/operations/event-repository";
import { createOperationListRepository } from "@/lib/modules/operations/list-repository";
import { createOperationsRepository } from "@/lib/modules/operations/repository";
import { createOperationsService } from "@/lib/modules/operations/service";
import { createWaitingRepository } from "@/lib/modules/operations/waiting-repository";
import { withPrivacyLegs, type ExitCalls } from "@/lib/modules/privacy/service";
import { createQuotesRepository } from "@/lib/modules/quotes/repository";
import { createQuotesService } from "@/lib/modules/quotes/service";
import { createReservesService } from "@/lib/modules/reserves/service";
import { createSponsorshipService } from "@/lib/modules/sponsorship/service";
import { createStreamsRepository } from "@/lib/modules/streams/repository";
import { createStreamsService } from "@/lib/modules/streams/service";
import { createSwapsService } from "@/lib/modules/swaps/service";
import { createTransfersService } from "@/lib/modules/transfers/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { observeLedgerBatch } from "@/lib/telemetry/call-metrics";
import type { Platform } from "./platform";
import type { ChainAccess } from "./chain-access";
import type { Identity } from "./identity";

/** Balances, holds and budgets, and the operations that move money over the chains. */
export const buildMoney = (
  platform: Platform,
  chainAccess: ChainAccess,
  { otp, policies }: Identity,
  exitCalls: ExitCalls,
) => {
  const { config, overrides, shares, database, listener, ticker, registry, secrets, clock } = platform;
  const { smartAccounts, bundler, wallets } = chainAccess;
  const routing = withPrivacyLegs(overrides.routing ?? createOnchainRouting({ registry, clock }), exitCalls);
  const accounts = createSmartAccountsService({ registry, smartAccounts, bundler });
  const holds = createHoldsService({
    repository: createHoldsRepository(database),
    readBalances: (at) => readEach(registry, at),
  });
  const ledgerRepository = createLedgerRepository(config.databaseUrl, { poolSize: shares.ledger });
  const ledger = createLedgerService({
    repository: ledgerRepository,
    clock,
    onBatch: observeLedgerBatch,
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
  const transfers = createTransfersService({
    quotes,
    operations,
    wallets,
    smartAccounts: accounts,
    policies,
    registry,
    clock,
  });
  const prices = {
    priceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.priceUsd(tokens, signal),
    highestPriceUsd: (tokens: readonly Token[], signal: AbortSignal) => routing.highestPriceUsd(tokens, signal),
  };
  return {
    routing,
    accounts,
    holds,
    ledger,
    ledgerPool: ledgerRepository.pool,
    assets,
    reserves,
    sponsorship,
    operationsRepository,
    operations,
    streams,
    quotes,
    swaps,
    transfers,
    prices,
  };
};

export type Money = ReturnType<typeof buildMoney>;

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
