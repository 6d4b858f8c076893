import { removeMember, updateMember } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toMember } from "@/lib/modules/members/serializer";

export const PATCH = route({
  contract: updateMember,
  handler: async ({ params, body, actor, services }) =>
    ok(toMember(await services.members.changeRole(actor, params.id, body))),
});

export const DELETE = route({
  contract: removeMember,
  handler: async ({ params, actor, services }) => ok(await services.members.remove(actor, params.id)),
});
