import { executeSwap } from "@/lib/contracts/swap";
import { accepted, route } from "@/lib/http/route";

export const POST = route({
  contract: executeSwap,
  beforeReplay: ({ body, actor, services }) => services.swaps.checkCaller(actor, body),
  handler: async ({ body: { signatures, ...subject }, actor, services }) =>
    accepted(await services.swaps.execute(actor, subject, signatures)),
});
