import { privateTransfer } from "@/lib/contracts/privacy";
import { accepted, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/modules/privacy/serializer";

export const POST = route({
  contract: privateTransfer,
  beforeReplay: ({ body, actor, services }) => services.privacy.checkRecipient(actor, body),
  handler: async ({ body, actor, services, idempotencyKey }) => {
    services.privacy.checkRecipient(actor, body);
    const transfer = await services.privacy.transfer(actor, body, idempotencyKey);
    return accepted(toPrivateTransfer(transfer, services.clock.now()));
  },
});
