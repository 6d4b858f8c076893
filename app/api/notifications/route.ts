import { listNotifications } from "@/lib/contracts/notifications";
import { ok, route } from "@/lib/http/route";
import { toNotifications } from "@/lib/money/notifications/serializer";

export const GET = route({
  contract: listNotifications,
  handler: async ({ query, actor, services }) =>
    ok(toNotifications(await services.notifications.list(actor, query))),
});
