import { restoreMadeThings } from "@/lib/contracts/sessions";
import { ok, route } from "@/lib/http/route";
import { toMadeThing } from "@/lib/trust/session-made/serializer";

export const POST = route({
  contract: restoreMadeThings,
  handler: async ({ body, actor, services }) =>
    ok({ restored: (await services.sessionMade.restore(actor, body)).map(toMadeThing) }),
});
