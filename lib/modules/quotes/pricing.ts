import { amountText } from "@/lib/core/amount-text";
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { PriceOracle } from "@/lib/ports/price-oracle";
import type { Route, RouteRequest, Routing } from "@/lib/ports/routing";
import { codeElsewhere } from "./code-elsewhere";
import { findEarlierQuote } from "./idempotency";
import { expectedOut, minimumOut, withMinimum } from "./minimum";
import { checkPrice, requireFairPrice, type PriceCheck } from "./price-check";
import { chooseRoute } from "./route-id";
import { approvalDigest, tokenKey, toQuoteRecord, valueUsd, type FeePayer, type QuoteRecord } from "./serializer";
import type { Quote } from "./quote";
import { storedQuote, type IdempotencyUse, type NewQuote, type QuotesRepository } from "./repository";
import type { ResolveDeps, ResolvedRequest, SourceWallet } from "./request";

const QUOTE_TTL_SECONDS = 300;
const QUOTE_TIMEOUT_MS = 8000;

export interface PricingDeps extends ResolveDeps {
  repository: QuotesRepository;
  routing: Routing;
  oracle: PriceOracle;
  holds: HoldsService;
  sponsorship: Pick<SponsorshipService, "pays">;
  clock: Clock;
}

/** The purpose of a quote. */
export interface QuotePurpose {
  readonly kind: "swap" | "transfer" | "swap_and_transfer";
  /** The operation whose failed or refunded legs the quote retries. */
  readonly retryOf?: string;
  /** The caller's Idempotency-Key, where the call accepts one. */
  readonly idempotency?: IdempotencyUse | null;
  /** Whether the caller has checked the balances just now, so that the quote needs no warning about them. */
  readonly isFunded?: boolean;
  /** Recorded in the transaction that stores the quote. */
  readonly audit?: (quoteId: string, now: Date) => AuditEntry;
}

export interface StoredQuote {
  readonly quote: Quote;
  readonly record: QuoteRecord;
}

/** A quote that is not stored, and that no caller has seen. */
export interface QuoteDraft extends StoredQuote {
  readonly row: NewQuote;
  readonly priced: PricedRoute;
}

/** The parts from which the record of a quote is made. */
interface QuoteParts {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
  /** By leg; null while unknown. */
  readonly feePayers: readonly (FeePayer | null)[];
}

/** A route at the present prices, and the others that could be chosen. */
export interface PricedRoute {
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
}

/** @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` */
const price = async (deps: PricingDeps, request: RouteRequest): Promise<PricedRoute> => {
  const signal = AbortSignal.timeout(QUOTE_TIMEOUT_MS);
  const tokens = [...request.sources.map(({ token }) => token), request.destination.token];
  const [routes, prices] = await Promise.all([deps.routing.quote(request, signal), deps.oracle.prices(tokens, signal)]);
  const { route, others } = chooseRoute(request, routes);
  return { route, others, check: checkPrice(request, route, prices) };
};

/**
 * A price that the caller accepts: within the price impact and at least the minimum of the request.
 * @throws DomainError `price_impact_too_high`, `minimum_not_reached`; and as `price`
 */
const acceptablePrice = async (deps: PricingDeps, request: RouteRequest): Promise<PricedRoute> => {
  const priced = await price(deps, request);
  requireFairPrice(request, priced.check);
  const { minOutBase } = request.limits ?? {};
  if (minOutBase === undefined) return priced;
  const route = withMinimum(priced.route, minOutBase, request.slippageBps);
  if (route !== null) return { ...priced, route };
  const { decimals, symbol } = request.destination.token;
  throw new DomainError(
    "minimum_not_reached",
    `The route brings ${formatAmount(expectedOut(priced.route), decimals)} ${symbol}, which does not reach the minimum of ${formatAmount(minOutBase, decimals)} ${symbol} with room for the price to move. Nothing was sent.`,
  );
};

/** Prices are only displayed, so a missing price does not fail the quote. */
const pricesOf = async (deps: PricingDeps, route: Route): Promise<Map<string, string | null>> => {
  const tokens = route.legs.flatMap((leg) => leg.fees.map((fee) => fee.token));
  const prices = await deps.routing
    .priceUsd(tokens, AbortSignal.timeout(QUOTE_TIMEOUT_MS))
    .catch(() => tokens.map(() => null));
  return new Map(tokens.map((token, index) => [tokenKey(token), prices[index] ?? null]));
};

const shortOf = async (deps: PricingDeps, request: RouteRequest): Promise<string[]> => {
  const shortfalls = await deps.holds.shortfalls(request.sources).catch(() => []);
  return shortfalls.map(({ source: { token }, missingBase }) => {
    const missing = formatAmount(missingBase, token.decimals);
    return `${amountText(missing, { symbol: token.symbol, exact: true, locale: "en" }).text} ${token.symbol}`;
  });
};

interface RecordedQuote {
  readonly id: string;
  readonly expiresAt: Date;
  /** Without it the recipient is a wallet of the project. */
  readonly projectId?: string;
  readonly isFunded?: boolean | undefined;
}

/** A smart account of the project gets its code on a chain with its first operation there, so it is not warned about. */
const recipientWarningsOf = async (
  deps: PricingDeps,
  { projectId }: RecordedQuote,
  request: RouteRequest,
): Promise<QuoteRecord["warnings"]> => {
  if (projectId === undefined) return [];
  const { recipient, token } = request.destination;
  const there = await codeElsewhere(deps.registry, request);
  if (there === null) return [];
  const own = await deps.wallets.find(projectId, recipient);
  if (own !== null && own.ownerAddress !== null) return [];
  const message = `${recipient} is a contract on ${there} and not on ${deps.registry.get(token.chainId).name}: whoever holds it there may not be able to use it here.`;
  return [{ code: "code_elsewhere", message }];
};

/** The quote's record, for a route that was priced now or before. */
const recordOf = async (deps: PricingDeps, quote: RecordedQuote, parts: QuoteParts): Promise<QuoteRecord> => {
  const [prices, missing, recipientWarnings] = await Promise.all([
    pricesOf(deps, parts.route),
    quote.isFunded === true ? [] : shortOf(deps, parts.request),
    recipientWarningsOf(deps, quote, parts.request),
  ]);
  const record = toQuoteRecord({ ...parts, quoteId: quote.id, expiresAt: quote.expiresAt, prices, shortOf: missing });
  return { ...record, warnings: [...recipientWarnings, ...record.warnings] };
};

/**
 * The payer of each leg's network fee. Where the sponsor pays, a plain wallet is first asked for a permit, and only
 * prepare shows whether it can sign one.
 */
const feePayersOf = (
  deps: PricingDeps,
  request: RouteRequest,
  wallets: readonly SourceWallet[],
  route: Route,
): (FeePayer | null)[] =>
  route.legs.map(({ sourceIndex }) => {
    const chainId = request.sources[sourceIndex]?.token.chainId;
    if (chainId === undefined || !deps.sponsorship.pays(chainId)) return "wallet";
    return wallets[sourceIndex]?.ownerAddress == null ? null : "sponsor";
  });

/** @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`, `price_impact_too_high`, `minimum_not_reached` */
const draft = async (
  deps: PricingDeps,
  actor: Actor,
  { route: request, wallets }: ResolvedRequest,
  purpose: QuotePurpose,
): Promise<QuoteDraft> => {
  const { kind, idempotency = null } = purpose;
  const priced = await acceptablePrice(deps, request);
  const { route, others, check } = priced;
  const now = deps.clock.now();
  const id = newId("quote");
  const expiresAt = addSeconds(now, QUOTE_TTL_SECONDS);
  const feePayers = feePayersOf(deps, request, wallets, route);
  const record = await recordOf(
    deps,
    { id, expiresAt, projectId: actor.projectId, isFunded: purpose.isFunded },
    { request, wallets, route, others, check, feePayers },
  );
  const minimumBase = minimumOut(route);
  const row = {
    id,
    projectId: actor.projectId,
    kind,
    transferId: kind === "transfer" ? newId("transfer") : null,
    retryOf: purpose.retryOf ?? null,
    createdBy: actorName(actor),
    request,
    route,
    response: record,
    minimumBase,
    digest: approvalDigest(request, minimumBase),
    createdAt: now,
    expiresAt,
    idempotency,
  };
  return { quote: storedQuote(row), record, row, priced };
};

/** @throws DomainError as `draft` */
const store = async (
  deps: PricingDeps,
  actor: Actor,
  resolved: ResolvedRequest,
  purpose: QuotePurpose,
): Promise<StoredQuote> => {
  const { record, row } = await draft(deps, actor, resolved, purpose);
  const { kind, idempotency = null } = purpose;
  const stored = await deps.repository.insert(row, purpose.audit?.(row.id, row.createdAt) ?? null);
  const quote = stored ?? (await findEarlierQuote(deps.repository, { actor, kind, idempotency }));
  if (quote === null) throw new Error("A quote with a new id was not stored.");
  return { quote, record };
};

/**
 * The current wallets of a stored request.
 * @throws DomainError `unknown_wallet`
 */
const walletsOf = async (deps: PricingDeps, projectId: string, request: RouteRequest): Promise<SourceWallet[]> => {
  const found = await Promise.all(request.sources.map((source) => deps.wallets.find(projectId, source.owner)));
  if (found.some((wallet) => wallet === null)) {
    throw new DomainError(
      "unknown_wallet",
      "A source wallet no longer belongs to the project. Nothing was sent; ask for a quote from another wallet.",
    );
  }
  return found.filter((wallet) => wallet !== null);
};

/**
 * The value of all sources at the highest price of any chain, as a decimal string of US dollars; null when one has no
 * price.
 */
const worthUsd = async (deps: PricingDeps, request: RouteRequest): Promise<string | null> => {
  const tokens = request.sources.map(({ token }) => token);
  const prices = await deps.routing
    .highestPriceUsd(tokens, AbortSignal.timeout(QUOTE_TIMEOUT_MS))
    .catch(() => tokens.map(() => null));
  return valueUsd(request, prices);
};

/** Prices requests, and stores the results as quotes. */
export const createPricing = (deps: PricingDeps) => ({
  price: (request: RouteRequest) => price(deps, request),
  recordOf: (quote: RecordedQuote, parts: QuoteParts) => recordOf(deps, quote, parts),
  draft: (actor: Actor, resolved: ResolvedRequest, purpose: QuotePurpose) => draft(deps, actor, resolved, purpose),
  /** Stores the quote of a draft, so that it can be approved. */
  keep: async (row: NewQuote): Promise<void> => {
    await deps.repository.insert(row, null);
  },
  store: (actor: Actor, resolved: ResolvedRequest, purpose: QuotePurpose) => store(deps, actor, resolved, purpose),
  walletsOf: (projectId: string, request: RouteRequest) => walletsOf(deps, projectId, request),
  worthUsd: (request: RouteRequest) => worthUsd(deps, request),
});
