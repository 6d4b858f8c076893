import { approvePayoutSchedule } from "@/lib/contracts/payout-schedules";
import { requiredCode } from "@/lib/contracts/proofs";
import { ok, route } from "@/lib/http/route";
import { toSchedule } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: approvePayoutSchedule,
  handler: async ({ params, body, actor, services }) =>
    ok(toSchedule(await services.payoutSchedules.approve(actor, params.id, requiredCode(body)))),
});
