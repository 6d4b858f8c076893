import { type Actor, actorName } from "@/lib/core/actor";
import { type IdempotentRequest, requireSameRequest } from "@/lib/platform/db/idempotency-keys";
import type { Quote } from "./quote";
import { type NewQuote, type QuotesRepository, storedQuote, type Subject } from "./repository";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { nounOf, quoteUsed } from "./errors";
import { amountText } from "@/lib/core/amount-text";
import { newId } from "@/lib/core/ids";
import { formatAmount } from "@/lib/core/money";
import type { AuditEntry } from "@/lib/news/audit/service";
import type { HoldsService } from "@/lib/books/holds/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { PriceOracle } from "@/lib/books/ports/price-oracle";
import type { Route, Routing } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import {
  checkPrice,
  expectedOut,
  minimumOut,
  type PriceCheck,
  requireFairPrice,
  withMinimum,
} from "./price-check";
import {
  chooseRoute,
  type ResolveDeps,
  type ResolvedRequest,
  type SourceWallet,
} from "./request";
import {
  approvalDigest,
  type FeePayer,
  type QuoteRecord,
  tokenKey,
  toQuoteRecord,
  valueUsd,
} from "./serializer";

/**
 * Finds the quote that an earlier call with the same Idempotency-Key created, even when the HTTP
 * layer no longer stores the answer of that call.
 * @throws DomainError `idempotency_mismatch` when the key was used for a different request
 */
export const findEarlierQuote = async (
  repository: QuotesRepository,
  {
    actor,
    kind,
    idempotency,
  }: { actor: Actor; kind: string; idempotency: IdempotentRequest | null },
): Promise<Quote | null> => {
  if (idempotency === null) return null;
  const caller = { projectId: actor.projectId, createdBy: actorName(actor) };
  const quote = await repository.findByKey({
    ...caller,
    kind,
    idempotencyKey: idempotency.key,
  });
  if (quote !== null) requireSameRequest(quote, idempotency);
  return quote;
};

/** Returns the error for a quote that can no longer be used; null while the quote can be used. */
export const endOf = (quote: Quote): DomainError | null => {
  if (quote.status === "used") return quoteUsed(quote);
  if (quote.status !== "cancelled") return null;
  return new DomainError(
    "invalid_state",
    `This ${nounOf(quote)} was cancelled. Nothing was sent; ask for a new one.`,
  );
};

export const createQuoteLoader = ({
  repository,
  clock,
}: {
  repository: QuotesRepository;
  clock: Clock;
}) => {
  /**
   * Reads a quote in any state.
   * @throws DomainError `not_found`
   */
  const any = async (actor: Actor, subject: Subject): Promise<Quote> => {
    const quote = await repository.find(actor.projectId, subject);
    if (quote === null) throw notFound();
    return quote;
  };

  /**
   * Reads a quote that can still be used.
   * @throws DomainError `not_found`, `quote_already_used`, `invalid_state` (cancelled),
   * `quote_expired`
   */
  const open = async (actor: Actor, subject: Subject): Promise<Quote> => {
    const quote = await any(actor, subject);
    const end = endOf(quote);
    if (end !== null) throw end;
    if (quote.expiresAt <= clock.now())
      throw new DomainError(
        "quote_expired",
        `This ${nounOf(quote)} has expired. Ask for a new one; nothing was sent.`,
      );
    return quote;
  };

  return { any, open };
};

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

export interface QuotePurpose {
  readonly kind: "swap" | "transfer" | "swap_and_transfer";
  /** The operation whose failed or refunded legs the quote retries. */
  readonly retryOf?: string;
  readonly idempotency?: IdempotentRequest | null;
  /**
   * True when the caller has just checked the balances, so that the quote needs no balance warning.
   */
  readonly isFunded?: boolean;
  /** The votes that executing the quote needs. Default: none. */
  readonly votes?: QuoteRecord["votes"];
  /** The audit entry, recorded in the transaction that stores the quote. */
  readonly audit?: (quoteId: string, now: Date) => AuditEntry;
}

interface StoredQuote {
  readonly quote: Quote;
  readonly record: QuoteRecord;
}

/** A quote that is not stored and that no caller has seen. */
export interface QuoteDraft extends StoredQuote {
  readonly row: NewQuote;
  readonly priced: PricedRoute;
}

interface QuoteParts {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
  /** The payer of each leg's network fee, in the order of the legs; null while unknown. */
  readonly feePayers: readonly (FeePayer | null)[];
}

export interface PricedRoute {
  readonly route: Route;
  readonly others: readonly Route[];
  readonly check: PriceCheck;
}

/**
 * Finds the routes of a request and checks the price of the best route.
 * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`
 */
const price = async (deps: PricingDeps, request: RouteRequest): Promise<PricedRoute> => {
  const signal = AbortSignal.timeout(QUOTE_TIMEOUT_MS);
  const tokens = [...request.sources.map(({ token }) => token), request.destination.token];
  const [routes, prices] = await Promise.all([
    deps.routing.quote(request, signal),
    deps.oracle.prices(tokens, signal),
  ]);
  const { route, others } = chooseRoute(request, routes);
  return { route, others, check: checkPrice(request, route, prices) };
};

/**
 * Prices a request within the caller's limits: the price impact is at most the caller's maximum,
 * and the output is at least the caller's minimum.
 * @throws DomainError `price_impact_too_high`, `minimum_not_reached`, and the errors of `price`
 */
const acceptablePrice = async (
  deps: PricingDeps,
  request: RouteRequest,
): Promise<PricedRoute> => {
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

/**
 * The prices in US dollars of the tokens in which fees are paid. They are only displayed, so a
 * missing price does not fail the quote.
 */
const pricesOf = async (
  deps: PricingDeps,
  route: Route,
): Promise<Map<string, string | null>> => {
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
  /**
   * Absent when this service chose a wallet of the project as the recipient. The quote then needs
   * no warnings about the recipient.
   */
  readonly projectId?: string;
  readonly kind?: string;
  readonly isFunded?: boolean | undefined;
  readonly votes?: QuoteRecord["votes"] | undefined;
}

/**
 * Warnings about the recipient. Empty when this service chose one of the project's wallets as the
 * recipient.
 */
const recipientWarningsOf = async (
  deps: PricingDeps,
  { projectId, kind }: RecordedQuote,
  { destination: { recipient, token } }: RouteRequest,
): Promise<QuoteRecord["warnings"]> =>
  projectId === undefined
    ? []
    : deps.recipients.warnings({
        projectId,
        chainIds: [token.chainId],
        recipients: [
          {
            path: kind === "swap_and_transfer" ? "recipient" : "toAddress",
            address: recipient,
          },
        ],
        tokens: [token],
        purpose: "pay",
      });

const recordOf = async (
  deps: PricingDeps,
  quote: RecordedQuote,
  parts: QuoteParts,
): Promise<QuoteRecord> => {
  const [prices, missing, recipientWarnings] = await Promise.all([
    pricesOf(deps, parts.route),
    quote.isFunded === true ? [] : shortOf(deps, parts.request),
    recipientWarningsOf(deps, quote, parts.request),
  ]);
  const record = toQuoteRecord({
    ...parts,
    quoteId: quote.id,
    expiresAt: quote.expiresAt,
    prices,
    shortOf: missing,
    votes: quote.votes ?? null,
  });
  return { ...record, warnings: [...recipientWarnings, ...record.warnings] };
};

/**
 * The payer of each leg's network fee. On a chain with a sponsor the payer is unknown (null) for a
 * wallet without an owner address, because only prepare shows whether that wallet can sign a
 * permit.
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

/**
 * Prices a request and builds its quote without storing it.
 * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`,
 * `price_impact_too_high`, `minimum_not_reached`
 */
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
    {
      id,
      expiresAt,
      projectId: actor.projectId,
      kind,
      isFunded: purpose.isFunded,
      votes: purpose.votes,
    },
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

/**
 * Prices a request and stores its quote.
 * @throws the DomainErrors of `draft`
 */
const store = async (
  deps: PricingDeps,
  actor: Actor,
  resolved: ResolvedRequest,
  purpose: QuotePurpose,
): Promise<StoredQuote> => {
  const { record, row } = await draft(deps, actor, resolved, purpose);
  const { kind, idempotency = null } = purpose;
  const stored = await deps.repository.insert(
    row,
    purpose.audit?.(row.id, row.createdAt) ?? null,
  );
  const quote =
    stored ?? (await findEarlierQuote(deps.repository, { actor, kind, idempotency }));
  if (quote === null) throw new Error("A quote with a new id was not stored.");
  return { quote, record };
};

/**
 * The project's current wallets for the sources of a stored request.
 * @throws DomainError `unknown_wallet`
 */
const walletsOf = async (
  deps: PricingDeps,
  projectId: string,
  request: RouteRequest,
): Promise<SourceWallet[]> => {
  const found = await Promise.all(
    request.sources.map((source) => deps.wallets.find(projectId, source.owner)),
  );
  if (found.some((wallet) => wallet === null)) {
    throw new DomainError(
      "unknown_wallet",
      "A source wallet no longer belongs to the project. Nothing was sent; ask for a quote from another wallet.",
    );
  }
  return found.filter((wallet) => wallet !== null);
};

/**
 * The value of all sources as a decimal string of US dollars, at each asset's highest price on any
 * chain. Null when a source has no price.
 */
const worthUsd = async (deps: PricingDeps, request: RouteRequest): Promise<string | null> => {
  const tokens = request.sources.map(({ token }) => token);
  const prices = await deps.routing
    .highestPriceUsd(tokens, AbortSignal.timeout(QUOTE_TIMEOUT_MS))
    .catch(() => tokens.map(() => null));
  return valueUsd(request, prices);
};

export const createPricing = (deps: PricingDeps) => ({
  price: (request: RouteRequest) => price(deps, request),
  recordOf: (quote: RecordedQuote, parts: QuoteParts) => recordOf(deps, quote, parts),
  draft: (actor: Actor, resolved: ResolvedRequest, purpose: QuotePurpose) =>
    draft(deps, actor, resolved, purpose),
  /** Stores the quote of a draft, so that it can be approved later. */
  keep: async (row: NewQuote): Promise<void> => {
    await deps.repository.insert(row, null);
  },
  store: (actor: Actor, resolved: ResolvedRequest, purpose: QuotePurpose) =>
    store(deps, actor, resolved, purpose),
  walletsOf: (projectId: string, request: RouteRequest) => walletsOf(deps, projectId, request),
  worthUsd: (request: RouteRequest) => worthUsd(deps, request),
});
