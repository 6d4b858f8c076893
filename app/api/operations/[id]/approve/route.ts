import { approveOperation } from "@/lib/contracts/operations";
import { requiredCode } from "@/lib/contracts/proofs";
import { accepted, route } from "@/lib/http/route";
import { toOperation } from "@/lib/money/operations/serializer";

export const POST = route({
  contract: approveOperation,
  handler: async ({ params: { id }, body, actor, services }) => {
    await services.authorize.approve(actor, id, requiredCode(body));
    return accepted(
      toOperation(await services.operations.get(actor.projectId, id), services.registry),
    );
  },
  answerAgain: async ({ params, actor, services }) =>
    (await services.audit.isDoneBy(actor, { action: "operation.approved", subject: params.id }))
      ? accepted(
          toOperation(await services.operations.getFor(actor, params.id), services.registry),
        )
      : null,
});
