import { listPayoutItems } from "@/lib/contracts/payouts";
import { ok, route } from "@/lib/http/route";
import { toItems } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: listPayoutItems,
  handler: async ({ params, query, actor, services }) =>
    ok(toItems(await services.payouts.items(actor.projectId, params.id, query))),
});
