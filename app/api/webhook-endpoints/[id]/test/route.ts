import { testWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { accepted, route } from "@/lib/http/route";
import { toDelivery } from "@/lib/money/webhooks/serializer";

export const POST = route({
  contract: testWebhookEndpoint,
  handler: async ({ params, actor, services }) =>
    accepted(toDelivery(await services.webhooks.deliveries.test(actor, params.id))),
});
