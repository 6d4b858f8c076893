import { cancelOperation } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/money/operations/serializer";

export const POST = route({
  contract: cancelOperation,
  handler: async ({ params, actor, services }) => {
    await services.operations.getFor(actor, params.id);
    const cancelled =
      (await services.privacy.cancel(actor, params.id)) ??
      (await services.operations.cancel(actor, params.id));
    return ok(toOperation(cancelled, services.registry));
  },
});
