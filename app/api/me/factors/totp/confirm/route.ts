import { confirmTotp } from "@/lib/contracts/factors";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: confirmTotp,
  // A stored answer would show the recovery codes a second time.
  idempotency: false,
  handler: async ({ body, actor, services }) =>
    ok({ recoveryCodes: [...(await services.factors.confirmTotp(actor, body.code))] }),
});
