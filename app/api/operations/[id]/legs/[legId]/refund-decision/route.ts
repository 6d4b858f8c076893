import { decideRefund } from "@/lib/contracts/operations";
import { ok, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const POST = route({
  contract: decideRefund,
  handler: async ({ params, body, actor, services }) =>
    ok(toOperation(await services.operations.decideRefund(actor, params, body), services.registry)),
});
