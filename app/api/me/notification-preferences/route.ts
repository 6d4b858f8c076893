import {
  getNotificationPreferences,
  putNotificationPreferences,
} from "@/lib/contracts/notifications";
import { ok, route } from "@/lib/http/route";
import { toPreferences } from "@/lib/money/notifications/serializer";

export const GET = route({
  contract: getNotificationPreferences,
  handler: async ({ actor, services }) =>
    ok(toPreferences(await services.notifications.preferences(actor))),
});

export const PUT = route({
  contract: putNotificationPreferences,
  handler: async ({ body, actor, services }) =>
    ok(toPreferences(await services.notifications.setPreferences(actor, body))),
});
