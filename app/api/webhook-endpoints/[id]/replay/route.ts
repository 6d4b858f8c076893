import { replayWebhookEvents } from "@/lib/contracts/webhook-endpoints";
import { accepted, route } from "@/lib/http/route";

export const POST = route({
  contract: replayWebhookEvents,
  handler: async ({ params, body, actor, services }) =>
    accepted(await services.webhooks.deliveries.replay(actor, params.id, body)),
});
