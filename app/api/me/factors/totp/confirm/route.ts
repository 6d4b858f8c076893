import { confirmTotp } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: confirmTotp,
  handler: async ({ body, actor, services }) =>
    ok({ recoveryCodes: [...(await services.factors.confirmTotp(actor, body.code))] }),
});
