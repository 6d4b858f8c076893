/** Operations that bring money of the project to the chain on which a payout pays. */
import type { Actor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import type { Sql } from "@/lib/platform/db/sql";
import type { RouteRequest } from "@/lib/core/route-request";
import {
  minimumOut,
  type QuoteRecord,
  type ResolvedRequest,
  type SourceWallet,
} from "@/lib/money/quotes/service";
import type { Execute, ExecuteDeps, Proof } from "./execute";
import type { Prepare } from "./prepare";
import { applySignatures } from "./signatures";

const KIND = "swap_and_transfer";

export interface PricedFunding {
  /** The minimum that arrives, in base units of the destination's token. */
  readonly minimumBase: bigint;
  readonly record: QuoteRecord;
}

const priceMoved = (): DomainError =>
  new DomainError(
    "quote_price_moved",
    "The price moved: less than was planned would arrive on the payout's chain. Nothing was sent or paid. Create the payout again.",
  );

export const createFunding = (
  deps: ExecuteDeps,
  { prepare, execute }: { prepare: Prepare; execute: Execute },
) => {
  const { quotes } = deps;

  /**
   * The minimum that arrives at current prices. Stores nothing.
   * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`
   */
  const minimumOf = async (request: RouteRequest): Promise<bigint> =>
    minimumOut((await quotes.price(request)).route);

  /** Like `minimumOf`, but also returns the quote record. */
  const price = async (
    request: RouteRequest,
    wallets: readonly SourceWallet[],
  ): Promise<PricedFunding> => {
    const { route, others, check } = await quotes.price(request);
    const quote = { id: "", expiresAt: deps.clock.now() };
    const feePayers = route.legs.map(() => null);
    const record = await quotes.recordOf(quote, {
      request,
      wallets,
      route,
      others,
      check,
      feePayers,
    });
    return { minimumBase: minimumOut(route), record };
  };

  /** Prices a request and stores its quote, which no caller sees. */
  const store = async (
    actor: Actor,
    request: ResolvedRequest,
  ): Promise<PricedFunding & { quoteId: string }> => {
    const { quote, record } = await quotes.store(actor, request, { kind: KIND });
    return { quoteId: quote.id, minimumBase: quote.minimumBase, record };
  };

  /**
   * Starts the operation of a stored quote once, in one transaction with `claim`. Returns null when
   * the quote was used already, or `claim` returns false.
   * @throws DomainError `quote_price_moved`, `insufficient_balance`, `insufficient_reserves`,
   * `simulation_failed`, `sponsor_budget_exceeded`; and the errors of `claim`
   */
  const start = async (
    actor: Actor,
    quoteId: string,
    { claim, ...proof }: Proof & { claim: (sql: Sql, operationId: string) => Promise<boolean> },
  ): Promise<{ id: string } | null> => {
    const quote = await quotes.get(actor, { quoteId });
    const { request, wallets, route, simulated } = await prepare.ready(quote, () =>
      Promise.resolve(priceMoved()),
    );
    const { legs } = await applySignatures(deps, {
      legs: simulated.legs,
      routeLegs: route.legs,
      signatures: [],
    });
    return execute.accept(actor, {
      quote,
      request,
      wallets,
      legs,
      allSent: false,
      isCovered: true,
      ...proof,
      claim: {
        by: "sql",
        take: async (sql, id) =>
          (await quotes.claimOpen(sql, quote, id, null)) && (await claim(sql, id)),
      },
    });
  };

  return { minimumOf, price, store, start };
};

export type FundingService = ReturnType<typeof createFunding>;
