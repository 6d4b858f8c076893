import { createChainlinkOracle } from "@/lib/adapters/chainlink/price-oracle";
import type { PolicyEngine } from "@/lib/modules/policies/engine";
import { createQuotesRepository } from "@/lib/modules/quotes/repository";
import { createQuotesService } from "@/lib/modules/quotes/service";
import { createSwapsService, type SwapsDeps } from "@/lib/modules/swaps/service";
import { createTransfersService } from "@/lib/modules/transfers/service";
import { createAddressNames } from "@/lib/modules/contacts/service";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { ChainAccess } from "./chain-access";
import type { Identity } from "./identity";
import { keptWallets } from "./kept-wallets";
import type { Platform } from "./platform";

/** Quotes, and the swaps and transfers that carry them out. */
export const buildMovement = (
  { database, registry, clock, overrides }: Platform,
  { wallets: allWallets, freezes }: ChainAccess,
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
