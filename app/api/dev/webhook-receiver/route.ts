import { readWebhookReceiver } from "@/lib/contracts/dev";
import { notFound } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";
import { toReceived } from "@/lib/money/webhooks/serializer";

export const GET = route({
  contract: readWebhookReceiver,
  handler: async ({ actor, services }) => {
    if (services.webhookReceiver === null) throw notFound();
    return ok(toReceived(await services.webhookReceiver.read(actor.projectId)));
  },
});
