import {
  createNotificationChannel,
  listNotificationChannels,
} from "@/lib/contracts/notification-channels";
import { created, ok, route } from "@/lib/http/route";
import { toChannel, toChannels } from "@/lib/money/notifications/serializer";

export const GET = route({
  contract: listNotificationChannels,
  handler: async ({ actor, services }) =>
    ok(toChannels(await services.notificationChannels.list(actor))),
});

export const POST = route({
  contract: createNotificationChannel,
  handler: async ({ body, actor, services }) =>
    created(toChannel(await services.notificationChannels.create(actor, body))),
});
