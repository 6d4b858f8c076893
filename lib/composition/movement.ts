import { LRUCache } from "lru-cache";
import type { Wallet, WalletsService } from "@/lib/trust/wallets/service";
import { createChainlinkOracle } from "@/lib/adapters/chainlink/price-oracle";
import type { PolicyEngine } from "@/lib/trust/policies/engine";
import { createQuotesRepository } from "@/lib/money/quotes/repository";
import { createQuotesService } from "@/lib/money/quotes/service";
import { createSwapsService, type SwapsDeps } from "@/lib/money/swaps/service";
import { createTransfersService } from "@/lib/money/transfers/service";
import { createAddressNames } from "@/lib/books/contacts/service";
import type { HoldsService } from "@/lib/books/holds/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { CheckedAccess } from "./routing";
import type { Identity } from "./identity";
import type { Platform } from "./platform";

const WALLETS_MAX = 10_000;

/**
 * Caches the last `WALLETS_MAX` wallets whose key the service holds, without their labels. A cached
 * wallet cannot become outdated: address, owner and key id never change, and only linked wallets
 * are unlinked. Other wallets are read each time.
 */
const keptWallets = (wallets: Pick<WalletsService, "find" | "findById">) => {
  const known = new LRUCache<string, Wallet>({ max: WALLETS_MAX });

  const keep = async (
    key: string,
    find: () => Promise<Wallet | null>,
  ): Promise<Wallet | null> => {
    const wallet = known.get(key) ?? (await find());
    if (wallet === null || wallet.keyId === null || wallet.kind === "linked") return wallet;
    const unlabelled = { ...wallet, label: null };
    known.set(key, unlabelled);
    return unlabelled;
  };

  return {
    find: (projectId: string, address: string) =>
      keep(`${projectId}:${address}`, () => wallets.find(projectId, address)),
    findById: (projectId: string, walletId: string) =>
      keep(`${projectId}:${walletId}`, () => wallets.findById(projectId, walletId)),
  };
};

export const buildMovement = (
  { database, registry, clock, overrides }: Platform,
  { wallets: allWallets, freezes, recipients }: CheckedAccess,
  { otp, policies, decisions }: Identity,
  {
    routing,
    smartAccounts,
    holds,
    sponsorship,
    operations,
    policyEngine,
  }: Pick<SwapsDeps, "routing" | "smartAccounts" | "operations"> & {
    policyEngine: PolicyEngine;
    holds: HoldsService;
    sponsorship: SponsorshipService;
  },
) => {
  const wallets = { ...allWallets, ...keptWallets(allWallets) };
  const quotes = createQuotesService({
    repository: createQuotesRepository(database),
    registry,
    wallets,
    routing,
    oracle: overrides.priceOracle ?? createChainlinkOracle({ registry, clock }),
    holds,
    policies,
    policyEngine,
    sponsorship,
    recipients,
    clock,
  });
  const swaps = createSwapsService({
    quotes,
    registry,
    wallets,
    routing,
    freezes,
    smartAccounts,
    holds,
    otp,
    policies,
    policyEngine,
    decisions,
    sponsorship,
    operations,
    names: createAddressNames({ database, wallets }),
    clock,
  });
  const transfers = createTransfersService({
    quotes,
    operations,
    wallets,
    smartAccounts,
    policies,
    registry,
    clock,
  });
  return { quotes, swaps, transfers };
};
