import { logout } from "@/lib/contracts/auth";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: logout,
  handler: async ({ actor, services }) => {
    await services.auth.logout(actor.sessionId, actor.request);
    return ok({ loggedOut: true as const });
  },
});
