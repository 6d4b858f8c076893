import { removePasskey } from "@/lib/contracts/passkeys";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: removePasskey,
  handler: async ({ params, body, actor, services }) => {
    await services.factors.passkeys.remove(actor, params.id, body.approval);
    return ok({ removed: true as const });
  },
});
