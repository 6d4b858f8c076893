import { decideRefund } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/money/operations/serializer";

export const POST = route({
  contract: decideRefund,
  handler: async ({ params, body, actor, services }) =>
    ok(
      toOperation(
        await services.operations.decideRefund(actor, params, body),
        services.registry,
      ),
    ),
  answerAgain: async ({ params, body, actor, services }) => {
    const data = { legId: params.legId, decision: body.decision };
    const isDone = await services.audit.isDoneBy(actor, {
      action: "operation.refund_decided",
      subject: params.id,
      data,
    });
    return isDone
      ? ok(toOperation(await services.operations.getFor(actor, params.id), services.registry))
      : null;
  },
});
