import { executeSwap } from "@/lib/contracts/swap";
import { accepted, route } from "@/lib/http/route";
import { quoteIdOf } from "@/lib/modules/quotes/serializer";

export const POST = route({
  contract: executeSwap,
  handler: async ({ body, actor, services }) => accepted(await services.quotes.execute(actor, quoteIdOf(body))),
});
