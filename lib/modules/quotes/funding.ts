/** Operations that bring money of the project's own wallets to one of its chains before something else spends it there. */
import type { Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { toBigInt } from "@/lib/db/decimal";
import type { RouteRequest } from "@/lib/ports/routing";
import type { AtOnceDeps } from "./at-once";
import type { Executing } from "./executing";
import type { QuoteLoader } from "./loading";
import type { Preparing } from "./preparing";
import type { Pricing } from "./pricing";
import { minimumOut, type QuoteRecord } from "./record";
import type { ResolvedRequest, SourceWallet } from "./request";
import { applySignatures } from "./signatures";

const KIND = "swap_and_transfer";

export interface PricedFunding {
  /** What arrives at least, in base units of the destination's token. */
  readonly minimumBase: bigint;
  readonly record: QuoteRecord;
}

const priceMoved = (): DomainError =>
  new DomainError(
    "quote_price_moved",
    "The price moved: less than was planned would arrive on the payout's chain. Nothing was sent or paid. Make the payout anew.",
  );

export const createFunding = (
  deps: AtOnceDeps,
  parts: { pricing: Pricing; preparing: Preparing; executing: Executing; loading: QuoteLoader },
) => {
  const { pricing, preparing, executing, loading } = parts;

  /** Nothing is stored. @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` */
  const minimumOf = async (request: RouteRequest): Promise<bigint> => minimumOut((await pricing.price(request)).route);

  /** As `minimumOf`, with everything that a quote says. */
  const price = async (request: RouteRequest, wallets: readonly SourceWallet[]): Promise<PricedFunding> => {
    const { route, others } = await pricing.price(request);
    const quote = { id: "", expiresAt: deps.clock.now() };
    const feePayers = route.legs.map(() => null);
    const record = await pricing.recordOf(quote, { request, wallets, route, others, feePayers });
    return { minimumBase: minimumOut(route), record };
  };

  /** A quote that nobody but the caller knows. */
  const store = async (actor: Actor, request: ResolvedRequest): Promise<PricedFunding & { quoteId: string }> => {
    const { row, record } = await pricing.store(actor, request, { kind: KIND });
    return { quoteId: row.id, minimumBase: toBigInt(row.minimumBase), record };
  };

  /**
   * Starts the operation of a stored quote, once, in one transaction with `claim`. Null when the quote was used already, or `claim`
   * says no.
   * @throws DomainError `quote_price_moved`, `insufficient_balance`, `insufficient_reserves`, `simulation_failed`,
   * `sponsor_budget_exceeded`; and what `claim` throws
   */
  const start = async (
    actor: Actor,
    quoteId: string,
    { codeId, claim }: { codeId?: string; claim: (tx: Tx, operationId: string) => Promise<boolean> },
  ): Promise<{ id: string } | null> => {
    const quote = await loading.any(actor, { quoteId });
    const { request, wallets, route, simulated } = await preparing.ready(quote, () => Promise.resolve(priceMoved()));
    const { legs } = await applySignatures(deps, { legs: simulated.legs, routeLegs: route.legs, signatures: [] });
    return executing.accept(actor, {
      quote,
      request,
      wallets,
      legs,
      allSent: false,
      isCovered: true,
      ...(codeId === undefined ? {} : { codeId }),
      claim: async (tx, id) => (await deps.repository.claimOpen(tx, quote, id, null)) && (await claim(tx, id)),
    });
  };

  return { minimumOf, price, store, start };
};

export type FundingService = ReturnType<typeof createFunding>;
