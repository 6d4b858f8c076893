import { revokeSession } from "@/lib/contracts/sessions";
import { ok, route } from "@/lib/http/route";
import { toRevokedSession } from "@/lib/trust/session-made/serializer";

export const DELETE = route({
  contract: revokeSession,
  handler: async ({ params, actor, services }) =>
    ok(toRevokedSession(await services.auth.sessions.revoke(actor, params.id))),
});
