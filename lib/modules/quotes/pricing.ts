import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { AuditEntry } from "@/lib/modules/audit/service";
import type { HoldsService } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { Route, RouteRequest, Routing } from "@/lib/ports/routing";
import { findEarlierQuote } from "./idempotency";
import {
  approvalDigest,
  minimumOut,
  tokenKey,
  toQuoteRecord,
  valueUsd,
  type FeePayer,
  type QuoteRecord,
} from "./serializer";
import type { Quote } from "./quote";
import type { IdempotencyUse, QuotesRepository } from "./repository";
import type { ResolveDeps, ResolvedRequest, SourceWallet } from "./request";

const QUOTE_TTL_SECONDS = 300;
const QUOTE_TIMEOUT_MS = 8000;

export interface PricingDeps extends ResolveDeps {
  repository: QuotesRepository;
  routing: Routing;
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
  readonly once?: IdempotencyUse | null;
  /** Recorded in the transaction that stores the quote. */
  readonly audit?: (quoteId: string, now: Date) => AuditEntry;
}

export interface StoredQuote {
  readonly quote: Quote;
  readonly record: QuoteRecord;
}

/** The parts from which the record of a quote is made. */
interface QuoteParts {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly route: Route;
  readonly others: readonly Route[];
  /** By leg; null while unknown. */
  readonly feePayers: readonly (FeePayer | null)[];
}

/** @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` */
const price = async (deps: PricingDeps, request: RouteRequest): Promise<{ route: Route; others: readonly Route[] }> => {
  const [route, ...others] = await deps.routing.quote(request, AbortSignal.timeout(QUOTE_TIMEOUT_MS));
  if (route === undefined) throw new DomainError("no_route", "No way was found from these sources to this token.");
  return { route, others };
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
  return shortfalls.map(
    ({ source, missingBase }) => `${formatAmount(missingBase, source.token.decimals)} ${source.token.symbol}`,
  );
};

/** The quote's record, for a route that was priced now or before. */
const recordOf = async (
  deps: PricingDeps,
  quote: { id: string; expiresAt: Date },
  parts: QuoteParts,
): Promise<QuoteRecord> => {
  const [prices, missing] = await Promise.all([pricesOf(deps, parts.route), shortOf(deps, parts.request)]);
  return toQuoteRecord({ ...parts, quoteId: quote.id, expiresAt: quote.expiresAt, prices, shortOf: missing });
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

/** @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` */
const store = async (
  deps: PricingDeps,
  actor: Actor,
  { route: request, wallets }: ResolvedRequest,
  purpose: QuotePurpose,
): Promise<StoredQuote> => {
  const { kind, once = null } = purpose;
  const { route, others } = await price(deps, request);
  const now = deps.clock.now();
  const id = newId("quote");
  const expiresAt = addSeconds(now, QUOTE_TTL_SECONDS);
  const feePayers = feePayersOf(deps, request, wallets, route);
  const record = await recordOf(deps, { id, expiresAt }, { request, wallets, route, others, feePayers });
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
    once,
  };
  const stored = await deps.repository.insert(row, purpose.audit?.(id, now) ?? null);
  const quote = stored ?? (await findEarlierQuote(deps.repository, { actor, kind, once }));
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
    throw new DomainError("unknown_wallet", "A source wallet no longer belongs to the project.");
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
  recordOf: (quote: { id: string; expiresAt: Date }, parts: QuoteParts) => recordOf(deps, quote, parts),
  store: (actor: Actor, resolved: ResolvedRequest, purpose: QuotePurpose) => store(deps, actor, resolved, purpose),
  walletsOf: (projectId: string, request: RouteRequest) => walletsOf(deps, projectId, request),
  worthUsd: (request: RouteRequest) => worthUsd(deps, request),
});
