import { getOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toDepositOrNull } from "@/lib/money/deposits/serializer";
import { toOperation } from "@/lib/money/operations/serializer";

export const GET = route({
  contract: getOperation,
  handler: async ({ params, actor, services }) => {
    const operation = await services.operations.getFor(actor, params.id);
    const deposits = await services.deposits.ofOperations(actor.projectId, [operation]);
    const deposit = toDepositOrNull(deposits.get(operation.id), services.registry);
    return ok(toOperation(operation, services.registry, deposit));
  },
});
