import { lookUpNotMe } from "@/lib/contracts/not-me";
import { ok, route } from "@/lib/http/route";
import { toNotMe } from "@/lib/trust/session-made/serializer";

export const POST = route({
  contract: lookUpNotMe,
  handler: async ({ body, services }) =>
    ok(toNotMe(await services.sessionMade.lookUp(body.token), services.clock.now())),
});
