import { testNotificationChannel } from "@/lib/contracts/notification-channels";
import { ok, route } from "@/lib/http/route";
import { toChannel } from "@/lib/money/notifications/serializer";

const DEADLINE_MS = 20_000;

export const POST = route({
  contract: testNotificationChannel,
  handler: async ({ params, actor, services }) => {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    return ok(toChannel(await services.notificationChannels.test(actor, params.id, signal)));
  },
});
