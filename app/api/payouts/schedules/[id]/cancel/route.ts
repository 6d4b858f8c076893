import { cancelPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { ok, route } from "@/lib/http/route";
import { toSchedule } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: cancelPayoutSchedule,
  handler: async ({ params, actor, services }) =>
    ok(toSchedule(await services.payoutSchedules.cancel(actor, params.id))),
});
