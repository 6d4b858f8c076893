import { readNotifications } from "@/lib/contracts/notifications";
import { ok, route } from "@/lib/http/route";

export const POST = route({
  contract: readNotifications,
  handler: async ({ body, actor, services }) =>
    ok(await services.notifications.read(actor, body)),
});
