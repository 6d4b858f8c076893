import { readProjectInbox } from "@/lib/contracts/inbox";
import { ok, route } from "@/lib/http/route";
import { toInbox } from "@/lib/money/inbox/serializer";

export const GET = route({
  contract: readProjectInbox,
  handler: async ({ actor, services }) => ok(toInbox(await services.projectInbox.list(actor))),
});
