import { acceptInvitation } from "@/lib/contracts/members";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: acceptInvitation,
  handler: async ({ body, actor, services }) =>
    ok(await services.members.accept(actor, body.token)),
});
