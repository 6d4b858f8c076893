import { summarizeActivity } from "@/lib/contracts/activity";
import { ok, route } from "@/lib/http/route";
import { toSummary } from "@/lib/money/activity/serializer";

export const GET = route({
  contract: summarizeActivity,
  handler: async ({ query, actor, services }) =>
    ok(toSummary(await services.activity.summary(actor, query))),
});
