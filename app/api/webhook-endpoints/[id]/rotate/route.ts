import { rotateWebhookSecret } from "@/lib/contracts/webhook-endpoints";
import { ok, route } from "@/lib/http/route";
import { toEndpointWithSecret } from "@/lib/money/webhooks/serializer";

export const POST = route({
  contract: rotateWebhookSecret,
  handler: async ({ params, body, actor, services }) =>
    ok(toEndpointWithSecret(await services.webhooks.rotate(actor, params.id, body))),
});
