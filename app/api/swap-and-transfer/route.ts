import { swapAndTransfer } from "@/lib/contracts/transfers";
import { accepted, route } from "@/lib/http/route";

export const POST = route({
  contract: swapAndTransfer,
  beforeReplay: ({ body, actor, services }) =>
    services.policies.checkRecipient(actor, body.recipient, "recipient"),
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(await services.swaps.swapAndTransfer(actor, body, idempotencyKey)),
});
