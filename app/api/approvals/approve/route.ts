import { approveDecisions } from "@/lib/contracts/decisions";
import { DomainError } from "@/lib/core/errors";
import { ok, route } from "@/lib/http/route";
import { toSetVotes } from "@/lib/trust/decisions/serializer";

const notCounted = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Your vote on this request was not counted. Its state says how it stands.",
  );

export const POST = route({
  contract: approveDecisions,
  handler: async ({ body: { ids, ...input }, actor, services }) =>
    ok(toSetVotes(await services.decisions.approveSet(actor, ids, input))),
  answerAgain: async ({ body: { ids }, actor, services }) => {
    const votes = await Promise.all(
      ids.map(async (id) => {
        const isDone = await services.audit.isDoneBy(actor, {
          action: "approval.voted",
          subject: id,
          data: { decision: "approve" },
        });
        const view = await services.decisions.get(actor, id);
        return { view, refusal: isDone ? null : notCounted() };
      }),
    );
    const isAnyDone = votes.some(({ refusal }) => refusal === null);
    return isAnyDone ? ok(toSetVotes(votes)) : null;
  },
});
