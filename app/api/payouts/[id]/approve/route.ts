import { approvePayout } from "@/lib/contracts/payouts";
import { requiredCode } from "@/lib/contracts/proofs";
import { accepted, route } from "@/lib/http/route";
import { toPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: approvePayout,
  handler: async ({ params: { id }, body, actor, services }) => {
    await services.authorize.approve(actor, id, requiredCode(body));
    return accepted(toPayout(await services.payouts.get(actor.projectId, id)));
  },
  answerAgain: async ({ params, actor, services }) =>
    (await services.audit.isDoneBy(actor, { action: "payout.approved", subject: params.id }))
      ? accepted(toPayout(await services.payouts.get(actor.projectId, params.id)))
      : null,
});
