import { swapAndTransfer } from "@/lib/contracts/transfers";
import { accepted, route } from "@/lib/http/route";

export const POST = route({
  contract: swapAndTransfer,
  handler: async ({ body, actor, services, idempotencyKey }) =>
    accepted(await services.quotes.swapAndTransfer(actor, body, idempotencyKey)),
});
