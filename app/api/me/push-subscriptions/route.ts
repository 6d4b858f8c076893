import { createPushSubscription, listPushSubscriptions } from "@/lib/contracts/push";
import { created, ok, route } from "@/lib/http/route";
import { toPushSubscription, toPushSubscriptions } from "@/lib/money/notifications/serializer";

export const GET = route({
  contract: listPushSubscriptions,
  handler: async ({ actor, services }) =>
    ok(toPushSubscriptions(await services.push.list(actor), actor)),
});

export const POST = route({
  contract: createPushSubscription,
  handler: async ({ body, actor, services }) =>
    created(toPushSubscription(await services.push.subscribe(actor, body), actor)),
});
