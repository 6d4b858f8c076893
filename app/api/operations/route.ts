import { listOperations } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toDepositOrNull } from "@/lib/money/deposits/serializer";
import { toOperation } from "@/lib/money/operations/serializer";

export const GET = route({
  contract: listOperations,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.operations.listFor(actor, query);
    const deposits = await services.deposits.ofOperations(actor.projectId, data);
    return ok({
      data: data.map((operation) =>
        toOperation(
          operation,
          services.registry,
          toDepositOrNull(deposits.get(operation.id), services.registry),
        ),
      ),
      nextCursor,
    });
  },
});
