import { confirmNotMe } from "@/lib/contracts/not-me";
import { ok, route } from "@/lib/http/route";
import { toNamedThing } from "@/lib/trust/session-made/serializer";

export const POST = route({
  contract: confirmNotMe,
  handler: async ({ body, origin, services }) =>
    ok({
      suspended: (await services.sessionMade.disown(body.token, origin)).map(toNamedThing),
    }),
});
