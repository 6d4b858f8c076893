import { getServices, type Services } from "@/lib/composition";
import { createRoute } from "./pipeline";

export { accepted, created, ok, reply } from "./reply";

/**
 * Declares a route by its contract and its handler. The result is a plain Next route handler.
 *
 *     export const POST = route({
 *       contract: createQuote,
 *       handler: async ({ body, actor, services }) => ok(toQuote(await services.quotes.create(actor, body))),
 *     });
 *
 * `actor` is null for public routes, a UserActor for `auth: "user"`, an Actor for `auth: "member"`.
 * Throw DomainError for errors that the caller may know. `Idempotency-Key` has an effect on every
 * POST that is not public, unless its contract says `readsOnly` or `keepsNoAnswer`.
 */
export const route = createRoute<Services>(getServices);
