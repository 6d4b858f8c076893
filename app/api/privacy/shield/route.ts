import { shield } from "@/lib/contracts/privacy";
import { accepted, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: shield,
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(
      toPrivateTransfer(await services.privacy.shield(actor, body, idempotencyKey), services),
    ),
});
