import { getUnifiedBalances } from "@/lib/contracts/balances";
import { ok, route } from "@/lib/http/route";
import { toUnifiedBalances } from "@/lib/books/balances/serializer";

export const GET = route({
  contract: getUnifiedBalances,
  handler: async ({ actor, query, services }) =>
    ok(toUnifiedBalances(await services.balances.unified(actor.projectId, query))),
});
