import { DomainError } from "@/lib/core/errors";
import type { RouteLeg, RoutingProvider } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";

export interface SecondRoutingOptions {
  readonly id: string;
  /** The provider that executes the legs. */
  readonly inner: RoutingProvider;
  /** Promises this much more than `inner`, in base units, but enforces the same minimum. */
  readonly bonusBase?: bigint;
  /** Sources on other chains are refused; by default all are accepted. */
  readonly chainIds?: readonly number[];
}

const planOf = ({ plan }: RouteLeg): unknown => (plan as { readonly second: unknown }).second;

/**
 * A second routing provider, like another vendor's adapter: it has its own id, prices and plans,
 * and no other provider can read its plans.
 */
export const createSecondRouting = ({
  id,
  inner,
  bonusBase = 0n,
  chainIds,
}: SecondRoutingOptions): RoutingProvider => {
  const renamed = (leg: RouteLeg): RouteLeg => ({
    ...leg,
    provider: id,
    expectedOutBase: leg.expectedOutBase + bonusBase,
    plan: { second: leg.plan },
  });
  const own = (leg: RouteLeg): RouteLeg => ({
    ...leg,
    provider: inner.id,
    expectedOutBase: leg.expectedOutBase - bonusBase,
    plan: planOf(leg),
  });
  const serves = ({ sources }: RouteRequest): boolean =>
    chainIds === undefined || sources.every(({ token }) => chainIds.includes(token.chainId));
  return {
    ...inner,
    id,
    quote: async (request, signal) => {
      if (!serves(request))
        throw new DomainError("no_route", "This provider does not serve the chain.");
      const routes = await inner.quote(request, signal);
      return routes.map(({ legs }) => ({ legs: legs.map(renamed) }));
    },
    build: (request, leg, signal, options) => inner.build(request, own(leg), signal, options),
    readSource: (request, leg, receipt) => inner.readSource(request, own(leg), receipt),
    track: (request, leg, deposit, signal, options) =>
      inner.track(request, own(leg), deposit, signal, options),
    refundsIn: (request, leg, deposit, named, signal) =>
      inner.refundsIn(request, own(leg), deposit, named, signal),
  };
};
