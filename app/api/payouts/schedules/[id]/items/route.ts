import { listPayoutScheduleItems } from "@/lib/contracts/payout-schedules";
import { ok, route } from "@/lib/http/route";
import { toScheduleItems } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: listPayoutScheduleItems,
  handler: async ({ params, query, actor, services }) =>
    ok(
      toScheduleItems(await services.payoutSchedules.items(actor.projectId, params.id, query)),
    ),
});
