import { listMadeThings } from "@/lib/contracts/sessions";
import { ok, route } from "@/lib/http/route";
import { toMadeThing } from "@/lib/trust/session-made/serializer";

export const GET = route({
  contract: listMadeThings,
  handler: async ({ actor, services }) =>
    ok({ data: (await services.sessionMade.list(actor)).map(toMadeThing) }),
});
