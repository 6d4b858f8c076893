import {
  deleteNotificationChannel,
  updateNotificationChannel,
} from "@/lib/contracts/notification-channels";
import { ok, route } from "@/lib/http/route";
import { toChannel } from "@/lib/money/notifications/serializer";

export const PATCH = route({
  contract: updateNotificationChannel,
  handler: async ({ params, body, actor, services }) =>
    ok(toChannel(await services.notificationChannels.update(actor, params.id, body))),
});

export const DELETE = route({
  contract: deleteNotificationChannel,
  handler: async ({ params, actor, services }) =>
    ok(await services.notificationChannels.remove(actor, params.id)),
});
