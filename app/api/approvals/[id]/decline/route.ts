import { declineDecision } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toDecision } from "@/lib/trust/decisions/serializer";

export const POST = route({
  contract: declineDecision,
  handler: async ({ params, body, actor, services }) =>
    ok(
      toDecision(
        await services.decisions.decide(actor, params.id, { ...body, decision: "decline" }),
      ),
    ),
  answerAgain: async ({ params, actor, services }) => {
    const done = {
      action: "approval.voted",
      subject: params.id,
      data: { decision: "decline" },
    };
    const isDone = await services.audit.isDoneBy(actor, done);
    return isDone ? ok(toDecision(await services.decisions.get(actor, params.id))) : null;
  },
});
