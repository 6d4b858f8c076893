import { resendDelivery } from "@/lib/contracts/webhook-deliveries";
import { accepted, route } from "@/lib/http/route";
import { toDelivery } from "@/lib/money/webhooks/serializer";

export const POST = route({
  contract: resendDelivery,
  handler: async ({ params, actor, services }) =>
    accepted(toDelivery(await services.webhooks.deliveries.resend(actor, params.id))),
});
