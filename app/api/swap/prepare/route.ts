import { prepareSwap } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";
import { quoteIdOf } from "@/lib/modules/quotes/serializer";

export const POST = route({
  contract: prepareSwap,
  handler: async ({ body, actor, services }) =>
    ok(await services.quotes.prepare(actor, { quoteId: quoteIdOf(body), otp: body.otp })),
});
