import { listMembers } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";
import { toMembers } from "@/lib/trust/members/serializer";

export const GET = route({
  contract: listMembers,
  handler: async ({ query, actor, services }) =>
    ok(toMembers(await services.members.list(actor, query))),
});
