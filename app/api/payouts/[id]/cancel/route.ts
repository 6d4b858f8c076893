import { cancelPayout } from "@/lib/contracts/payouts";
import { ok, route } from "@/lib/http/route";
import { toPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: cancelPayout,
  handler: async ({ params, actor, services }) =>
    ok(toPayout(await services.payouts.cancel(actor, params.id))),
});
