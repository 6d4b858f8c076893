import { getBalanceHistory } from "@/lib/contracts/balances";
import { ok, route } from "@/lib/http/route";
import { toBalanceHistory } from "@/lib/books/balances/serializer";

export const GET = route({
  contract: getBalanceHistory,
  handler: async ({ actor, query, services }) =>
    ok(toBalanceHistory(await services.balances.history(actor.projectId, query.days))),
});
