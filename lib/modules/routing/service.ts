import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { Route, RouteLeg, RouteRequest, Routing, RoutingProvider } from "@/lib/ports/routing";
import { answerInTime, asError, legsOver, type RoutingLog } from "./quote-legs";

/** Whole routes that a quote shows at most, the best one included. */
const ROUTES_MAX = 4;
/** A route that brings less than this part of the best one is no alternative. */
const ALTERNATIVE_FLOOR_BPS = 9_500n;
const PRICE_DECIMALS = 36;

const receivedOf = ({ legs }: Route): bigint => legs.reduce((sum, leg) => sum + leg.expectedOutBase, 0n);

/** The best leg of every source, then whole routes that differ where a source has another way. Best first. */
const routesOf = (legsPerSource: readonly (readonly RouteLeg[])[]): readonly Route[] => {
  const ways = Math.min(Math.max(...legsPerSource.map((legs) => legs.length)), ROUTES_MAX);
  const routes = Array.from({ length: ways }, (_, way): Route => ({
    legs: legsPerSource.flatMap((legs) => legs[way] ?? legs.slice(0, 1)),
  }));
  const best = routes[0] === undefined ? 0n : receivedOf(routes[0]);
  return routes
    .filter((route, index) => index === 0 || receivedOf(route) * 10_000n >= best * ALTERNATIVE_FLOOR_BPS)
    .sort((a, b) => (receivedOf(a) < receivedOf(b) ? 1 : receivedOf(a) > receivedOf(b) ? -1 : 0));
};

const valueOf = (price: string): bigint => scaledTo(parseDecimal(price), PRICE_DECIMALS, "floor");

const higher = (one: string | null, other: string | null): string | null => {
  if (one === null || other === null) return one ?? other;
  return valueOf(other) > valueOf(one) ? other : one;
};

type AskPrices = (
  provider: RoutingProvider,
  tokens: readonly Token[],
  signal: AbortSignal,
) => Promise<readonly (string | null)[]>;

/** One answer of all providers. A provider that fails knows no price, unless all fail. */
const combinePrices =
  (providers: readonly RoutingProvider[], ask: AskPrices, choose: typeof higher) =>
  async (tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]> => {
    const [only, ...others] = providers;
    if (only !== undefined && others.length === 0) return ask(only, tokens, signal);
    const answers = await Promise.allSettled(
      providers.map((provider) => answerInTime(signal, (own) => ask(provider, tokens, own))),
    );
    signal.throwIfAborted();
    const prices = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (prices.length === 0 && failed !== undefined) throw asError(failed.reason);
    return tokens.map((_, index) =>
      prices.reduce<string | null>((known, each) => choose(known, each[index] ?? null), null),
    );
  };

/**
 * Routes over all configured providers. Each source of a request goes the way that brings most, whichever provider offers it, and each
 * leg is built, read and followed by the provider that it names.
 * @param providers in the order of preference: of two equal legs, and of two prices for display, the earlier provider's counts
 */
export const createRoutingService = (providers: readonly RoutingProvider[], log: RoutingLog): Routing => {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size !== providers.length) throw new Error("Two routing providers have the same id.");

  /** @throws DomainError `provider_error` for a leg whose provider is not configured any more */
  const providerOf = ({ provider: id }: RouteLeg): RoutingProvider => {
    const provider = byId.get(id);
    if (provider !== undefined) return provider;
    throw new DomainError(
      "provider_error",
      `The routing provider "${id}" of this leg is not configured. Its money is where the leg says; the operator has to configure the provider again.`,
    );
  };

  const quote = async (request: RouteRequest, signal: AbortSignal): Promise<readonly Route[]> => {
    const [only, ...others] = providers;
    if (only !== undefined && others.length === 0) return only.quote(request, signal);
    const sources = request.sources.map((_, sourceIndex) => sourceIndex);
    return routesOf(
      await Promise.all(sources.map((sourceIndex) => legsOver(providers, { request, sourceIndex, signal, log }))),
    );
  };

  return {
    quote,
    build: async (request, leg, signal, options) => providerOf(leg).build(request, leg, signal, options),
    readSource: (request, leg, receipt) => providerOf(leg).readSource(request, leg, receipt),
    readStopped: (request, leg, receipt) => providerOf(leg).readStopped(request, leg, receipt),
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
