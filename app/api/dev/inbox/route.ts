import { readInbox } from "@/lib/contracts/dev";
import { notFound } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";
import { toInbox } from "@/lib/news/mail/serializer";

export const GET = route({
  contract: readInbox,
  handler: async ({ query, services }) => {
    if (services.inbox === null) throw notFound();
    // The mails contain codes and links of other people, so no cache may keep them.
    return ok(toInbox(await services.inbox.list(query)), { "cache-control": "no-store" });
  },
});
