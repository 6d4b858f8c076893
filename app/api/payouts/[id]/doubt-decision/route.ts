import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { ok, route } from "@/lib/http/route";
import { toPayout } from "@/lib/money/payouts/serializer";

export const POST = route({
  contract: decidePayoutDoubt,
  handler: async ({ params, body, actor, services }) => {
    const { batch, ...decision } = body;
    return ok(
      toPayout(await services.payouts.decideDoubt(actor, { id: params.id, batch }, decision)),
    );
  },
  answerAgain: async ({ params, body, actor, services }) => {
    const { batch, decision } = body;
    const done = {
      action: "payout.doubt_decided",
      subject: params.id,
      data: { batch, decision },
    };
    const isDone = await services.audit.isDoneBy(actor, done);
    return isDone ? ok(toPayout(await services.payouts.get(actor.projectId, params.id))) : null;
  },
});
