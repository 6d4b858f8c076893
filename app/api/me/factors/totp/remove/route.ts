import { removeTotp } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: removeTotp,
  handler: async ({ body, actor, services }) => {
    await services.factors.removeTotp(actor, body.approval);
    return ok({ removed: true as const });
  },
});
