import { approveDecisions } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toSetVotes } from "@/lib/trust/decisions/serializer";

export const POST = route({
  contract: approveDecisions,
  handler: async ({ body: { ids, ...input }, actor, services }) =>
    ok(toSetVotes(await services.decisions.approveSet(actor, ids, input))),
  answerAgain: async ({ body: { ids }, actor, services }) => {
    const done = await Promise.all(
      ids.map((subject) =>
        services.audit.isDoneBy(actor, {
          action: "approval.voted",
          subject,
          data: { decision: "approve" },
        }),
      ),
    );
    if (!done.every(Boolean)) return null;
    const views = await Promise.all(ids.map((id) => services.decisions.get(actor, id)));
    return ok(toSetVotes(views.map((view) => ({ view, refusal: null }))));
  },
});
