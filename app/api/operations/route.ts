import { listOperations } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const GET = route({
  contract: listOperations,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.operations.listFor(actor, query);
    return ok({ data: data.map((operation) => toOperation(operation, services.registry)), nextCursor });
  },
});
