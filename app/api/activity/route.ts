import { listActivity } from "@/lib/contracts/activity";
import { ok, route } from "@/lib/http/route";
import { toActivity } from "@/lib/money/activity/serializer";

export const GET = route({
  contract: listActivity,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.activity.list(actor, query);
    return ok({ data: data.map(toActivity), nextCursor });
  },
});
