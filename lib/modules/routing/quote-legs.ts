import { abortable } from "@/lib/core/abortable";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";

export interface RoutingLog {
  warn(fields: object, message: string): void;
}

interface Asked {
  readonly request: RouteRequest;
  /** The source that is priced; the others do not change its price. */
  readonly sourceIndex: number;
  readonly signal: AbortSignal;
  readonly log: RoutingLog;
}

/** A provider that takes longer is left out: it must not use up the time that a whole quote has. */
const PROVIDER_TIMEOUT_MS = 5_000;

/** The answer of one of several providers. Rejects when it does not come in time, or when `signal` aborts, whether or not the provider looks at its signal. */
export const answerInTime = <Answer>(
  signal: AbortSignal,
  ask: (own: AbortSignal) => Promise<Answer>,
): Promise<Answer> => {
  const own = AbortSignal.any([signal, AbortSignal.timeout(PROVIDER_TIMEOUT_MS)]);
  return abortable(ask(own), own);
};

/** The legs of one source by one provider, best first. */
const askProvider = async (
  provider: RoutingProvider,
  { request, sourceIndex, signal }: Asked,
): Promise<readonly RouteLeg[]> => {
  const source = request.sources.slice(sourceIndex, sourceIndex + 1);
  const routes = await answerInTime(signal, (own) => provider.quote({ ...request, sources: source }, own));
  return routes.flatMap(({ legs }) => legs).map((leg) => ({ ...leg, sourceIndex }));
};

export const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** The most informative refusal: an unreachable chain before shallow pools before no way at all. */
const clearestOf = (reasons: readonly Error[]): Error =>
  reasons.find((reason) => isDomainError(reason) && reason.code === "chain_unavailable") ??
  reasons.find((reason) => isDomainError(reason) && reason.code === "insufficient_liquidity") ??
  reasons.find(isDomainError) ??
  reasons[0] ??
  new DomainError("no_route", "No routing provider is configured.");

/**
 * The legs of one source over all providers, best first. A provider that refuses, fails or does not answer is left out.
 * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable` when no provider offers a leg
 */
export const legsOver = async (providers: readonly RoutingProvider[], asked: Asked): Promise<readonly RouteLeg[]> => {
  const answers = await Promise.allSettled(providers.map((provider) => askProvider(provider, asked)));
  asked.signal.throwIfAborted();
  const reasons = answers.flatMap((answer, index) => {
    if (answer.status === "fulfilled") return [];
    const reason = asError(answer.reason);
    if (!isDomainError(reason))
      asked.log.warn({ provider: providers[index]?.id, err: reason }, "a routing provider failed to quote");
    return [reason];
  });
  const legs = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (legs.length === 0) throw clearestOf(reasons);
  return legs.toSorted((a, b) =>
    a.expectedOutBase < b.expectedOutBase ? 1 : a.expectedOutBase > b.expectedOutBase ? -1 : 0,
  );
};
