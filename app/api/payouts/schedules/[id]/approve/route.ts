import { approvePayoutSchedule } from "@/lib/contracts/payout-schedules";
import { requiredCode } from "@/lib/contracts/proofs";
import { ok, route } from "@/lib/http/route";
import { toSchedule } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: approvePayoutSchedule,
  handler: async ({ params: { id }, body, actor, services }) => {
    await services.authorize.approve(actor, id, requiredCode(body));
    return ok(toSchedule(await services.payoutSchedules.get(actor.projectId, id)));
  },
  answerAgain: async ({ params, actor, services }) =>
    (await services.audit.isDoneBy(actor, {
      action: "payout_schedule.approved",
      subject: params.id,
    }))
      ? ok(toSchedule(await services.payoutSchedules.get(actor.projectId, params.id)))
      : null,
});
