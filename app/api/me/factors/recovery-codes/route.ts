import { renewRecoveryCodes } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: renewRecoveryCodes,
  handler: async ({ body, actor, services }) =>
    ok({
      recoveryCodes: [...(await services.factors.renewRecoveryCodes(actor, body.approval))],
    }),
});
