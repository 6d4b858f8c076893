import { abortable } from "@/lib/core/abortable";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Route, RouteLeg, Routing, RoutingProvider } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import type { Token } from "@/lib/core/token";

interface RoutingLog {
  warn(fields: object, message: string): void;
}

interface Asked {
  readonly request: RouteRequest;
  /** Index of the source to price. The other sources do not affect its price. */
  readonly sourceIndex: number;
  readonly signal: AbortSignal;
  readonly log: RoutingLog;
}

/**
 * Maximum time in milliseconds for a provider's answer. A slower provider is left out, because it
 * must not use up the time of the whole quote.
 */
const PROVIDER_TIMEOUT_MS = 5_000;

/**
 * Resolves to the answer of one of several providers. Rejects when the answer does not arrive in
 * time, or when `signal` aborts, even if the provider ignores its signal.
 */
const answerInTime = <Answer>(
  signal: AbortSignal,
  ask: (own: AbortSignal) => Promise<Answer>,
): Promise<Answer> => {
  const own = AbortSignal.any([signal, AbortSignal.timeout(PROVIDER_TIMEOUT_MS)]);
  return abortable(ask(own), own);
};

/** The legs that one provider offers for one source, best first. */
const askProvider = async (
  provider: RoutingProvider,
  { request, sourceIndex, signal }: Asked,
): Promise<readonly RouteLeg[]> => {
  const source = request.sources.slice(sourceIndex, sourceIndex + 1);
  const routes = await answerInTime(signal, (own) =>
    provider.quote({ ...request, sources: source }, own),
  );
  return routes.flatMap(({ legs }) => legs).map((leg) => ({ ...leg, sourceIndex }));
};

const asError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error(String(reason));

/**
 * Selects the most informative error: first an unreachable chain, then low liquidity, then no
 * route.
 */
const clearestOf = (reasons: readonly Error[]): Error =>
  reasons.find((reason) => isDomainError(reason) && reason.code === "chain_unavailable") ??
  reasons.find((reason) => isDomainError(reason) && reason.code === "insufficient_liquidity") ??
  reasons.find(isDomainError) ??
  reasons[0] ??
  new DomainError("no_route", "No routing provider is configured.");

/**
 * The legs of one source from all providers, best first. A provider that offers no leg, fails or
 * does not answer is left out.
 * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` when no provider
 * offers a leg
 */
const legsOver = async (
  providers: readonly RoutingProvider[],
  asked: Asked,
): Promise<readonly RouteLeg[]> => {
  const answers = await Promise.allSettled(
    providers.map((provider) => askProvider(provider, asked)),
  );
  asked.signal.throwIfAborted();
  const reasons = answers.flatMap((answer, index) => {
    if (answer.status === "fulfilled") return [];
    const reason = asError(answer.reason);
    if (!isDomainError(reason))
      asked.log.warn(
        { provider: providers[index]?.id, err: reason },
        "a routing provider failed to quote",
      );
    return [reason];
  });
  const legs = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (legs.length === 0) throw clearestOf(reasons);
  return legs.toSorted((a, b) =>
    a.expectedOutBase < b.expectedOutBase ? 1 : a.expectedOutBase > b.expectedOutBase ? -1 : 0,
  );
};

/** Maximum number of complete routes in a quote, including the best one. */
const ROUTES_MAX = 4;
/**
 * A route is not offered when its output is less than this part of the best route's output, in
 * basis points.
 */
const ALTERNATIVE_FLOOR_BPS = 9_500n;
const PRICE_DECIMALS = 36;

const receivedOf = ({ legs }: Route): bigint =>
  legs.reduce((sum, leg) => sum + leg.expectedOutBase, 0n);

/**
 * Combines the legs of the sources into complete routes, best route first. The first combination
 * has the best leg of every source, the second the second-best legs, and so on. A source that has
 * no further leg contributes its best leg.
 */
const routesOf = (legsPerSource: readonly (readonly RouteLeg[])[]): readonly Route[] => {
  const ways = Math.min(Math.max(...legsPerSource.map((legs) => legs.length)), ROUTES_MAX);
  const routes = Array.from({ length: ways }, (_, way): Route => ({
    legs: legsPerSource.flatMap((legs) => legs[way] ?? legs.slice(0, 1)),
  }));
  const best = routes[0] === undefined ? 0n : receivedOf(routes[0]);
  return routes
    .filter(
      (route, index) =>
        index === 0 || receivedOf(route) * 10_000n >= best * ALTERNATIVE_FLOOR_BPS,
    )
    .sort((a, b) => {
      const [ofA, ofB] = [receivedOf(a), receivedOf(b)];
      if (ofA === ofB) return 0;
      return ofA < ofB ? 1 : -1;
    });
};

const valueOf = (price: string): bigint =>
  scaledTo(parseDecimal(price), PRICE_DECIMALS, "floor");

const higher = (one: string | null, other: string | null): string | null => {
  if (one === null || other === null) return one ?? other;
  return valueOf(other) > valueOf(one) ? other : one;
};

type AskPrices = (
  provider: RoutingProvider,
  tokens: readonly Token[],
  signal: AbortSignal,
) => Promise<readonly (string | null)[]>;

/**
 * Returns a function that reads the prices of tokens from all providers, and combines the prices of
 * each token with `choose`. A provider that fails counts as having no price. When all providers
 * fail, the function throws the error of one of them.
 */
const combinePrices =
  (providers: readonly RoutingProvider[], ask: AskPrices, choose: typeof higher) =>
  async (
    tokens: readonly Token[],
    signal: AbortSignal,
  ): Promise<readonly (string | null)[]> => {
    const [only, ...others] = providers;
    if (only !== undefined && others.length === 0) return ask(only, tokens, signal);
    const answers = await Promise.allSettled(
      providers.map((provider) => answerInTime(signal, (own) => ask(provider, tokens, own))),
    );
    signal.throwIfAborted();
    const prices = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? [answer.value] : [],
    );
    const failed = answers.find((answer) => answer.status === "rejected");
    if (prices.length === 0 && failed !== undefined) throw asError(failed.reason);
    return tokens.map((_, index) =>
      prices.reduce<string | null>((known, each) => choose(known, each[index] ?? null), null),
    );
  };

/**
 * Routing over all configured providers. Each source of a request uses the path with the largest
 * output from any provider. Each leg names its provider, which builds, reads and tracks the leg.
 * @param providers in order of preference. When two legs bring the same amount, the leg of the
 * earlier provider is used. When two providers have a price, the price of the earlier provider is
 * displayed.
 */
export const createRoutingService = (
  providers: readonly RoutingProvider[],
  log: RoutingLog,
): Routing => {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size !== providers.length)
    throw new Error("Two routing providers have the same id.");

  /**
   * Finds the provider that a leg names.
   * @throws DomainError `provider_error` for a leg whose provider is no longer configured
   */
  const providerOf = ({ provider: id }: RouteLeg): RoutingProvider => {
    const provider = byId.get(id);
    if (provider !== undefined) return provider;
    throw new DomainError(
      "provider_error",
      `The routing provider "${id}" of this leg is not configured. Its money is where the leg says; the operator has to configure the provider again.`,
    );
  };

  const quote = async (
    request: RouteRequest,
    signal: AbortSignal,
  ): Promise<readonly Route[]> => {
    const [only, ...others] = providers;
    if (only !== undefined && others.length === 0) return only.quote(request, signal);
    const sources = request.sources.map((_, sourceIndex) => sourceIndex);
    return routesOf(
      await Promise.all(
        sources.map((sourceIndex) =>
          legsOver(providers, { request, sourceIndex, signal, log }),
        ),
      ),
    );
  };

  return {
    contracts: (chainId) => [
      ...new Set(providers.flatMap((provider) => provider.contracts(chainId))),
    ],
    quote,
    build: async (request, leg, signal, options) =>
      providerOf(leg).build(request, leg, signal, options),
    readSource: (request, leg, receipt) => providerOf(leg).readSource(request, leg, receipt),
    track: async (request, leg, deposit, signal, options) =>
      providerOf(leg).track(request, leg, deposit, signal, options),
    refundsIn: async (request, leg, deposit, named, signal) =>
      providerOf(leg).refundsIn(request, leg, deposit, named, signal),
    priceUsd: combinePrices(
      providers,
      (provider, tokens, signal) => provider.priceUsd(tokens, signal),
      (one, other) => one ?? other,
    ),
    highestPriceUsd: combinePrices(
      providers,
      (provider, tokens, signal) => provider.highestPriceUsd(tokens, signal),
      higher,
    ),
  };
};
