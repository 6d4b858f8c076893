import { getPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { ok, route } from "@/lib/http/route";
import { toSchedule } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: getPayoutSchedule,
  handler: async ({ params, actor, services }) =>
    ok(toSchedule(await services.payoutSchedules.get(actor.projectId, params.id))),
});
