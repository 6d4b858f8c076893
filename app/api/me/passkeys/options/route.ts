import { startPasskey } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: startPasskey,
  handler: async ({ body, actor, services }) =>
    ok({ options: await services.factors.passkeys.start(actor, body) }),
});
