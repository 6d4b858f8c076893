import { deletePushSubscription } from "@/lib/contracts/push";
import { ok, route } from "@/lib/http/route";

export const DELETE = route({
  contract: deletePushSubscription,
  handler: async ({ params, actor, services }) =>
    ok(await services.push.unsubscribe(actor, params.id)),
});
