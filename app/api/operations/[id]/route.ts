import { getOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const GET = route({
  contract: getOperation,
  handler: async ({ params, actor, services }) =>
    ok(toOperation(await services.operations.show(actor, params.id), services.registry)),
});
