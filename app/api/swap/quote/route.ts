import { createQuote } from "@/lib/contracts/swap";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: createQuote,
  beforeReplay: ({ body, actor, services }) =>
    services.policies.checkRecipient(actor, body.toAddress, "toAddress"),
  handler: async ({ body, actor, services }) => ok(await services.quotes.create(actor, body)),
});
