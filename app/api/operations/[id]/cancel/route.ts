import { cancelOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const POST = route({
  contract: cancelOperation,
  handler: async ({ params, actor, services }) =>
    ok(toOperation(await services.operations.cancel(actor, params.id), services.registry)),
});
