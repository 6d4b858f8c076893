import { executePrivateSwap } from "@/lib/contracts/privacy-swap";
import { accepted, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: executePrivateSwap,
  handler: async ({ body, actor, services, idempotencyKey }) => {
    const transfer = await services.privacy.executeSwap(actor, body.quoteId, idempotencyKey);
    return accepted(toPrivateTransfer(transfer, services));
  },
});
