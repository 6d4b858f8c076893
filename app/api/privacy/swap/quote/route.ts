import { quotePrivateSwap } from "@/lib/contracts/privacy-swap";
import { ok, route } from "@/lib/http/route";
import { toPrivateQuote } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: quotePrivateSwap,
  handler: async ({ body, actor, services }) =>
    ok(toPrivateQuote(await services.privacy.quoteSwap(actor, body), services.privacy)),
});
