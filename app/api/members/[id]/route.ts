import { updateMember } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toMember } from "@/lib/trust/members/serializer";

export const PATCH = route({
  contract: updateMember,
  handler: async ({ params, body, actor, services }) =>
    ok(toMember(await services.members.changeRole(actor, params.id, body))),
});
