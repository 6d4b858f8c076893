import { withdrawInvitation } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toInvitation } from "@/lib/trust/members/serializer";

export const DELETE = route({
  contract: withdrawInvitation,
  handler: async ({ params, actor, services }) =>
    ok(toInvitation(await services.members.withdraw(actor, params.id), services.clock.now())),
});
