import { listDeliveries } from "@/lib/contracts/webhook-deliveries";
import { ok, route } from "@/lib/http/route";
import { toDeliveries } from "@/lib/money/webhooks/serializer";

export const GET = route({
  contract: listDeliveries,
  handler: async ({ params, query, actor, services }) =>
    ok(
      toDeliveries(await services.webhooks.deliveries.list(actor.projectId, params.id, query)),
    ),
});
