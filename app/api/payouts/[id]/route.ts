import { getPayout } from "@/lib/contracts/payouts";
import { ok, route } from "@/lib/http/route";
import { toPayout } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: getPayout,
  handler: async ({ params, actor, services }) =>
    ok(toPayout(await services.payouts.get(actor.projectId, params.id))),
});
