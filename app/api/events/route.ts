import { listEvents } from "@/lib/contracts/events";
import { ok, route } from "@/lib/http/route";
import { toEvents } from "@/lib/news/events/serializer";

export const GET = route({
  contract: listEvents,
  handler: async ({ query, actor, services }) =>
    ok(toEvents(await services.events.list(actor, query))),
});
