import { lookUpInvitation } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toInvitationView } from "@/lib/trust/members/serializer";

export const POST = route({
  contract: lookUpInvitation,
  handler: async ({ body, services }) =>
    ok(toInvitationView(await services.members.lookUp(body.token), services.clock.now())),
});
