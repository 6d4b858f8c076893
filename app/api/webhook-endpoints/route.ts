import { createWebhookEndpoint, listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";
import { created, ok, route } from "@/lib/http/route";
import { toEndpoints, toEndpointWithSecret } from "@/lib/money/webhooks/serializer";

export const GET = route({
  contract: listWebhookEndpoints,
  handler: async ({ query, actor, services }) =>
    ok(toEndpoints(await services.webhooks.list(actor.projectId, query))),
});

export const POST = route({
  contract: createWebhookEndpoint,
  handler: async ({ body, actor, services }) =>
    created(toEndpointWithSecret(await services.webhooks.create(actor, body))),
});
