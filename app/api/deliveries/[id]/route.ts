import { getDelivery } from "@/lib/contracts/webhook-deliveries";
import { ok, route } from "@/lib/http/route";
import { toDeliveryWithRequests } from "@/lib/money/webhooks/serializer";

export const GET = route({
  contract: getDelivery,
  handler: async ({ params, actor, services }) =>
    ok(toDeliveryWithRequests(await services.webhooks.deliveries.get(actor, params.id))),
});
