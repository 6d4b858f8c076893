import { getMemberRemoval, removeMember } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toRemoval } from "@/lib/trust/members/serializer";

export const GET = route({
  contract: getMemberRemoval,
  handler: async ({ params, query, actor, services }) =>
    ok(toRemoval(await services.members.removal(actor, params.id, query.role ?? null))),
});

export const POST = route({
  contract: removeMember,
  handler: async ({ params, body, actor, services }) =>
    ok(await services.members.remove(actor, params.id, body.approval)),
});
