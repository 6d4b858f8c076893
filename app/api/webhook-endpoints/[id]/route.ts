import {
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { ok, route } from "@/lib/http/route";
import { toEndpoint } from "@/lib/money/webhooks/serializer";

export const GET = route({
  contract: getWebhookEndpoint,
  handler: async ({ params, actor, services }) =>
    ok(toEndpoint(await services.webhooks.get(actor.projectId, params.id))),
});

export const PATCH = route({
  contract: updateWebhookEndpoint,
  handler: async ({ params, body, actor, services }) =>
    ok(toEndpoint(await services.webhooks.update(actor, params.id, body))),
});

export const DELETE = route({
  contract: deleteWebhookEndpoint,
  handler: async ({ params, actor, services }) =>
    ok(await services.webhooks.remove(actor, params.id)),
});
