import { createInvitation, listInvitations } from "@/lib/contracts/members";
import { created, ok, route } from "@/lib/http/route";
import { toInvitation, toInvitations } from "@/lib/trust/members/serializer";

export const GET = route({
  contract: listInvitations,
  handler: async ({ actor, services }) =>
    ok(toInvitations(await services.members.listInvitations(actor), services.clock.now())),
});

export const POST = route({
  contract: createInvitation,
  handler: async ({ body, actor, services }) =>
    created(toInvitation(await services.members.invite(actor, body), services.clock.now())),
});
