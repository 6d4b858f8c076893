import { createHash } from "node:crypto";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { Route, RouteRequest } from "@/lib/ports/routing";

const ID_DIGITS = 24;

const nameOf = ({ chainId, address }: Token): string => `${String(chainId)}:${address.toLowerCase()}`;

/**
 * Names a route by the way of each source: its provider, venues, pools and tokens. Amounts are no part of it, so the same way has the same id
 * when it is priced again.
 */
export const routeIdOf = ({ legs }: Route): string => {
  const ways = legs.map(({ provider, kind, steps, way = "" }) => [
    ...[provider, kind, way],
    ...steps.map((step) => [step.kind, step.venue, nameOf(step.from), nameOf(step.to)]),
  ]);
  return `rt_${createHash("sha256").update(JSON.stringify(ways)).digest("hex").slice(0, ID_DIGITS)}`;
};

/**
 * The route to take, and the others with the best first.
 * @param routes with the best first
 * @throws DomainError `no_route` when there is none, or not the one that the caller chose
 */
export const chooseRoute = (
  { routeId }: Pick<RouteRequest, "routeId">,
  routes: readonly Route[],
): { readonly route: Route; readonly others: readonly Route[] } => {
  const [best] = routes;
  if (best === undefined)
    throw new DomainError(
      "no_route",
      "No way was found from these sources to this token. Nothing was sent; choose other sources or another token.",
    );
  const route = routeId === undefined ? best : routes.find((one) => routeIdOf(one) === routeId);
  if (route !== undefined) return { route, others: routes.filter((one) => one !== route) };
  throw new DomainError(
    "no_route",
    "The chosen route is not offered for this amount any more. Nothing was sent. Ask for a new quote without `routeId`.",
  );
};
