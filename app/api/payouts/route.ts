import { listPayouts } from "@/lib/contracts/payouts";
import { ok, route } from "@/lib/http/route";
import { toPayouts } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: listPayouts,
  handler: async ({ query, actor, services }) =>
    ok(toPayouts(await services.payouts.list(actor.projectId, query))),
});
