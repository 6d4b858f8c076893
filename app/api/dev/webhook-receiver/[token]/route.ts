import { receiveWebhook } from "@/lib/contracts/dev";
import { notFound } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: receiveWebhook,
  handler: async ({ params, request, rawBody: raw, services }) => {
    if (services.webhookReceiver === null) throw notFound();
    await services.webhookReceiver.receive(params.token, { headers: request.headers, raw });
    return ok({ received: true as const });
  },
});
