import { listSessions, revokeOtherSessions } from "@/lib/contracts/sessions";
import { ok, route } from "@/lib/http/route";
import { toSessions } from "@/lib/trust/auth/serializer";
import { toRevokedSessions } from "@/lib/trust/session-made/serializer";

export const GET = route({
  contract: listSessions,
  handler: async ({ actor, services }) =>
    ok(toSessions(await services.auth.sessions.list(actor), actor.sessionId)),
});

export const DELETE = route({
  contract: revokeOtherSessions,
  handler: async ({ actor, services }) =>
    ok(toRevokedSessions(await services.auth.sessions.revokeOthers(actor))),
});
