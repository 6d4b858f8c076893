import { readInbox } from "@/lib/contracts/dev";
import { notFound } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";
import { toInbox } from "@/lib/modules/mail/serializer";

export const GET = route({
  contract: readInbox,
  handler: async ({ query, services }) => {
    if (services.inbox === null) throw notFound();
    return ok(toInbox(await services.inbox.list(query)));
  },
});
